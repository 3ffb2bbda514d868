# tb.sh: builds and runs tests of a snapshot of /work/main
rsync -a --delete --exclude .git --exclude build /work/main/ /tmp/wa/snap/
cd /tmp/wa; [ -f bt/build.ninja ] || cmake -G Ninja -S snap -B bt -DCMAKE_BUILD_TYPE=Release -DNARROW_WERROR=ON > cfg.log 2>&1
b=$(date +%s); ninja -C bt -k 0 -j${1:-2} > bt.log 2>&1; echo "build $? $(( $(date +%s)-b ))" > bt.t
cd bt; ctest -j2 -LE "exhaustive|package" > ../ct.log 2>&1; echo "test $? $(( $(date +%s)-b ))" >> ../bt.t

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.files import copy, get
from conan.tools.layout import basic_layout
from conan.tools.scm import Version
import os

required_conan_version = ">=2.0"


class NarrowConan(ConanFile):
    name = "narrow"
    description = "Number formats for training, with sums that accumulate wide"
    license = "MIT"
    url = "https://github.com/@REPOSITORY@"
    homepage = "https://github.com/@REPOSITORY@"
    topics = ("half-precision", "bfloat16", "fp8", "quantization", "eigen", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"with_eigen": [True, False]}
    default_options = {"with_eigen": True}
    no_copy_source = True

    def layout(self):
        basic_layout(self, src_folder="src")

    def requirements(self):
        if self.options.with_eigen:
            self.requires("eigen/3.4.0")

    def package_id(self):
        self.info.clear()

    def validate(self):
        check_min_cppstd(self, 20)
        least = {"gcc": "12", "clang": "14"}.get(str(self.settings.compiler))
        if least is None or Version(self.settings.compiler.version) < least:
            raise ConanInvalidConfiguration(f"{self.ref} needs gcc 12 or later, or clang 14 or later")

    def source(self):
        get(self, **self.conan_data["sources"][self.version], strip_root=True)

    def build(self):
        pass

    @property
    def _kernels(self):
        return os.path.join("lib", "cmake", "narrow-kernels.cmake")

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        for pattern in ("*.hpp", "*.inl"):
            copy(self, pattern, os.path.join(self.source_folder, "include"), os.path.join(self.package_folder, "include"))
        copy(self, "narrow-kernels.cmake", os.path.join(self.source_folder, "cmake"),
             os.path.dirname(os.path.join(self.package_folder, self._kernels)))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "narrow")
        self.cpp_info.set_property("cmake_target_name", "narrow::all")
        # narrow::kernels, which is compiled by those who link it
        self.cpp_info.set_property("cmake_build_modules", [self._kernels])

        headers = self.cpp_info.components["headers"]
        headers.set_property("cmake_target_name", "narrow::narrow")
        headers.set_property("pkg_config_name", "narrow")
        headers.bindirs = []
        headers.libdirs = []
        if self.settings.os in ("Linux", "FreeBSD"):
            headers.system_libs = ["pthread"]

        if self.options.with_eigen:
            eigen = self.cpp_info.components["eigen"]
            eigen.set_property("cmake_target_name", "narrow::eigen")
            eigen.set_property("pkg_config_name", "narrow-eigen")
            eigen.bindirs = []
            eigen.libdirs = []
            eigen.requires = ["headers", "eigen::eigen"]

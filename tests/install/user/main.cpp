#include "../uses.hpp"

#if defined(LIBRARY)
int LIBRARY();
int main() { return LIBRARY() + used(); }
#else
int main() { return used(); }
#endif

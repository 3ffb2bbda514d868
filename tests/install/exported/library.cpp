#include "../uses.hpp"

int LIBRARY() { return used(); }

#include "formats/stored/compiled.hpp"

template struct narrow_train::stored_format<float>;

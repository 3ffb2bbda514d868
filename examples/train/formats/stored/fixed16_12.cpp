#include "formats/stored/compiled.hpp"

template struct narrow_train::stored_format<narrow_train::fixed16_12>;

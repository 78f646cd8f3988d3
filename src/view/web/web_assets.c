/* Stands for the script until there is one. */
#include "view/web/web_assets.h"

const char tl_page_script[] = "", tl_page_style[] = "", tl_page_shell[] = "";
const size_t tl_page_script_size = 0, tl_page_style_size = 0, tl_page_shell_size = 0;
const char tl_page_script_hash[] = "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
           tl_page_style_hash[] = "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";

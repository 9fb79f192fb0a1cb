/* The part of ESP-IDF's esp_err.h that the program of a package uses, as Espressif documents it. */
#ifndef KC_STANDIN_ESP_ERR_H
#define KC_STANDIN_ESP_ERR_H

#include <stdlib.h>

typedef int esp_err_t;
#define ESP_OK 0
#define ESP_ERR_INVALID_STATE 0x103
#define ESP_ERROR_CHECK(call) do { if ((call) != ESP_OK) { abort(); } } while (0)

#endif

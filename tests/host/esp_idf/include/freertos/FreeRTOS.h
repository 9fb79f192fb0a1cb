/* The part of FreeRTOS in ESP-IDF that the program of a package uses, as its documentation has it. */
#ifndef KC_STANDIN_FREERTOS_H
#define KC_STANDIN_FREERTOS_H

#include <stdint.h>

typedef int BaseType_t;
typedef uint32_t TickType_t;
#define pdFALSE 0
#define pdTRUE 1
#define portMAX_DELAY UINT32_MAX

#endif

/* The general-purpose timer of ESP-IDF, as Espressif documents it. The alarm is a signal of this machine, so that
 * its callback interrupts the program. The order of calls is checked as the driver checks it. */
#ifndef KC_STANDIN_GPTIMER_H
#define KC_STANDIN_GPTIMER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/time.h>

#include "esp_err.h"

typedef enum { GPTIMER_CLK_SRC_DEFAULT } gptimer_clock_source_t;
typedef enum { GPTIMER_COUNT_DOWN, GPTIMER_COUNT_UP } gptimer_count_direction_t;
typedef struct { uint64_t count_value, alarm_value; } gptimer_alarm_event_data_t;
typedef struct kc_standin_gptimer *gptimer_handle_t;
typedef bool (*gptimer_alarm_cb_t)(gptimer_handle_t timer, const gptimer_alarm_event_data_t *event, void *context);
typedef struct { gptimer_alarm_cb_t on_alarm; } gptimer_event_callbacks_t;
typedef struct {
    gptimer_clock_source_t clk_src;
    gptimer_count_direction_t direction;
    uint32_t resolution_hz;
    int intr_priority;
    struct { uint32_t intr_shared : 1; } flags;
} gptimer_config_t;
typedef struct {
    uint64_t alarm_count, reload_count;
    struct { uint32_t auto_reload_on_alarm : 1; } flags;
} gptimer_alarm_config_t;

struct kc_standin_gptimer {
    uint32_t resolution_hz;
    uint64_t alarm_count;
    gptimer_alarm_cb_t on_alarm;
    void *context;
    bool enabled;
};

static struct kc_standin_gptimer kc_standin_timer;

static inline void kc_standin_alarm(int number)
{
    const gptimer_alarm_event_data_t event = { kc_standin_timer.alarm_count, kc_standin_timer.alarm_count };

    (void)number;
    (void)kc_standin_timer.on_alarm(&kc_standin_timer, &event, kc_standin_timer.context);
}

static inline esp_err_t gptimer_new_timer(const gptimer_config_t *config, gptimer_handle_t *timer)
{
    kc_standin_timer.resolution_hz = config->resolution_hz;
    *timer = &kc_standin_timer;
    return ESP_OK;
}

static inline esp_err_t gptimer_register_event_callbacks(gptimer_handle_t timer,
    const gptimer_event_callbacks_t *callbacks, void *context)
{
    timer->on_alarm = callbacks->on_alarm;
    timer->context = context;
    return timer->enabled ? ESP_ERR_INVALID_STATE : ESP_OK;
}

static inline esp_err_t gptimer_set_alarm_action(gptimer_handle_t timer, const gptimer_alarm_config_t *alarm)
{
    timer->alarm_count = alarm->flags.auto_reload_on_alarm ? alarm->alarm_count - alarm->reload_count : 0;
    return ESP_OK;
}

static inline esp_err_t gptimer_enable(gptimer_handle_t timer)
{
    const esp_err_t status = timer->enabled ? ESP_ERR_INVALID_STATE : ESP_OK;

    timer->enabled = true;
    return status;
}

static inline esp_err_t gptimer_start(gptimer_handle_t timer)
{
    struct sigaction action;
    const suseconds_t period = (suseconds_t)(timer->alarm_count * 1000000u / timer->resolution_hz);
    const struct itimerval each = { { 0, period }, { 0, period } };

    if (!timer->enabled || period == 0) {
        return ESP_ERR_INVALID_STATE;
    }
    memset(&action, 0, sizeof action);
    action.sa_handler = kc_standin_alarm;
    action.sa_flags = SA_RESTART;
    (void)sigaction(SIGALRM, &action, NULL);
    (void)setitimer(ITIMER_REAL, &each, NULL);
    return ESP_OK;
}

#endif

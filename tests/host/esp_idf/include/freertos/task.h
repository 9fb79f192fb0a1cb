/* Notifications of one task; the program of a package has no other. */
#ifndef KC_STANDIN_TASK_H
#define KC_STANDIN_TASK_H

#include <signal.h>
#include <stddef.h>

#include "freertos/FreeRTOS.h"

typedef struct { volatile sig_atomic_t notified; } *TaskHandle_t;

static inline TaskHandle_t xTaskGetCurrentTaskHandle(void)
{
    static __typeof__(*(TaskHandle_t)0) task;

    return &task;
}

static inline void vTaskNotifyGiveFromISR(TaskHandle_t task, BaseType_t *woken)
{
    task->notified = 1;
    *woken = pdTRUE;
}

static inline uint32_t ulTaskNotifyTake(BaseType_t clear, TickType_t ticks)
{
    TaskHandle_t task = xTaskGetCurrentTaskHandle();
    sigset_t blocked, before;

    (void)ticks;
    (void)sigemptyset(&blocked);
    (void)sigaddset(&blocked, SIGALRM);
    (void)sigprocmask(SIG_BLOCK, &blocked, &before);
    while (task->notified == 0) {
        (void)sigsuspend(&before);
    }
    task->notified = clear == pdTRUE ? 0 : task->notified;
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    return 1u;
}

#endif

/* Train on a grid and predict: the trainer sends its model, the program passes it to the predictor. */
#include "grid_predictor_regs.h"
#include "grid_trainer_regs.h"
#include "inputs.h"
#include "platform.h"

#define FRAME KC_CORE_IRQ_STATUS_FRAME_MASK
#define ERROR KC_CORE_IRQ_STATUS_ERROR_MASK

int main(void)
{
    static const uint32_t trainer_plan[8] = GRID_TRAINER_PLAN_HASH, predictor_plan[8] = GRID_PREDICTOR_PLAN_HASH;
    const kc_core_t *trainer, *predictor;
    uint32_t model[MODEL_BEATS], user, value;
    size_t count, k;

    trainer = soc_open(SOC_TRAINER, GRID_TRAINER_TYPE, GRID_TRAINER_ABI, trainer_plan);
    predictor = soc_open(SOC_PREDICTOR, GRID_PREDICTOR_TYPE, GRID_PREDICTOR_ABI, predictor_plan);

    /* A frame that is too short is refused by the error interrupt, and the next one is accepted. */
    soc_expect(kc_core_load(trainer, GRID_TRAINER_S_AXIS_Y, targets, TARGETS - 1u, 0u), KC_CORE_OK, 3);
    soc_expect((int32_t)soc_wait(SOC_TRAINER, 0u), (int32_t)ERROR, 4);
    soc_expect((int32_t)kc_core_errors(trainer), (int32_t)GRID_TRAINER_ERROR_Y_MASK, 5);

    soc_expect(kc_core_load(trainer, GRID_TRAINER_S_AXIS_Y, targets, TARGETS, 0u), KC_CORE_OK, 6);
    soc_expect((int32_t)soc_wait(SOC_TRAINER, FRAME), (int32_t)FRAME, 7);
    soc_expect(kc_core_read(trainer, GRID_TRAINER_M_AXIS_MODEL, model, MODEL_BEATS, &count, &user), KC_CORE_OK, 8);
    soc_print("model", model, count);
    value = (uint32_t)kc_core_status(trainer);
    soc_print("status", &value, 1);

    soc_expect(kc_core_load(predictor, GRID_PREDICTOR_S_AXIS_MODEL, model, count, 0u), KC_CORE_OK, 9);
    for (k = 0; k < SAMPLES; k++) {
        soc_expect(kc_core_load(predictor, GRID_PREDICTOR_S_AXIS_X, samples[k], SAMPLE_BEATS, 0u), KC_CORE_OK, 10);
        soc_expect((int32_t)soc_wait(SOC_PREDICTOR, FRAME), (int32_t)FRAME, 11);
        soc_expect(kc_core_read(predictor, GRID_PREDICTOR_M_AXIS_F, &value, 1, &count, &user), KC_CORE_OK, 12);
        soc_print("f", &value, 1);
        soc_print("status", &user, 1);
    }
    return 0;
}

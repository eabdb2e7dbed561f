#pragma once

namespace sluice::base {

// Tells the processor that this thread spins, so that it leaves power and the core's other thread
// alone for a moment. Orders nothing: leaving it out costs speed, never truth.
inline void CpuRelax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  // `yield` does nothing on most cores. `isb` waits for the pipeline, about as long as x86's pause.
  __asm__ volatile("isb");
#endif
}

}  // namespace sluice::base

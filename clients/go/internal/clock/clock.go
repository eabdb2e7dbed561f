// Package clock is time and chance as one object that tests replace.
package clock

import (
	"context"
	"math/rand"
	"time"
)

// Clock is the system's, or a test's that advances by call.
type Clock interface {
	// Now has the wall clock's reading and a monotonic one.
	Now() time.Time
	// Random is from 0 to 1.
	Random() float64
	// Sleep ends early, with the context's error, if the context ends.
	Sleep(ctx context.Context, d time.Duration) error
}

// System is the machine's clock.
var System Clock = system{}

type system struct{}

func (system) Now() time.Time  { return time.Now() }
func (system) Random() float64 { return rand.Float64() }

func (system) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

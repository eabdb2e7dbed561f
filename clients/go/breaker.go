package sluice

import (
	"sync"
	"sync/atomic"
	"time"

	"sluice.example/sluice/internal/clock"
)

// Breaker stops asking a daemon that does not answer, so that few requests cost their timeout and not all of them.
//
// It opens after some failed calls in a row. While it is open, the fail mode decides checks at once, and one call each
// retryEvery tries whether Sluice is back. One success closes it. Clients and goroutines may share one.
type Breaker struct {
	most       int32
	retryEvery time.Duration
	clock      clock.Clock
	failures   atomic.Int32 // In a row.
	mutex      sync.Mutex   // For retryAt, and for every change of failures.
	retryAt    time.Time
}

// NewBreaker makes one that opens after so many failures (at least 1). retryEvery is extended at random by up to a half, so that
// many clients do not try in step. It panics if a parameter is not above 0.
func NewBreaker(failures int, retryEvery time.Duration) *Breaker {
	if failures < 1 || retryEvery <= 0 {
		panic("sluice: a breaker has at least 1 failure, and retryEvery above 0")
	}
	return &Breaker{most: int32(failures), retryEvery: retryEvery, clock: clock.System}
}

// Open is whether Sluice did not answer lately.
func (b *Breaker) Open() bool { return b.failures.Load() >= b.most }

// allows is whether a call may be made now.
func (b *Breaker) allows() bool {
	if !b.Open() {
		return true
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	now := b.clock.Now()
	if b.Open() && now.Before(b.retryAt) {
		return false
	}
	b.postpone(now) // This caller tries. The others go on without.
	return true
}

// retryIn is how long it is until the next call may be made; 0 if one may be made now.
func (b *Breaker) retryIn() time.Duration {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if left := b.retryAt.Sub(b.clock.Now()); b.Open() && left > 0 {
		return left
	}
	return 0
}

// succeeded is whether that closed the breaker.
func (b *Breaker) succeeded() bool {
	if b.failures.Load() == 0 {
		return false
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.failures.Swap(0) >= b.most
}

// failed is whether that opened the breaker.
func (b *Breaker) failed() bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	failures := b.failures.Load()
	if failures < b.most {
		failures = b.failures.Add(1)
		if failures < b.most {
			return false
		}
		b.postpone(b.clock.Now())
		return true
	}
	b.postpone(b.clock.Now())
	return false
}

func (b *Breaker) postpone(now time.Time) {
	b.retryAt = now.Add(b.retryEvery + time.Duration(float64(b.retryEvery)*b.clock.Random()/2))
}

// Package throttle keeps a program's calls within the limits that other people's servers show.
//
// A Transport for net/http waits before it sends where a quota is used up, and after a 429 as long as the server says:
//
//	client := &http.Client{Transport: &throttle.Transport{}, Timeout: 30 * time.Second}
//
// Advise is the pure function behind it. The package needs no Sluice daemon.
package throttle

import (
	"context"
	"fmt"
	"sync"
	"time"

	"sluice.example/sluice/internal/clock"
)

// Throttle is what servers said about their limits, by resource. Any number of transports and goroutines may share one.
//
// A resource is a text that the transport makes of a request: host and path, unless you say otherwise. Resources share a
// bucket once the server names it (X-RateLimit-Resource, X-RateLimit-Bucket), so that search stays open while the core quota
// is used up. A limit that the server declares for all buckets holds the whole host.
type Throttle struct {
	// Logf, if it is not nil, gets a line for each wait, with its reason. Set it before the first request.
	Logf func(format string, arguments ...any)

	policy   Policy
	clock    clock.Clock
	mutex    sync.Mutex
	buckets  lru[*bucket]
	bucketOf lru[string] // By resource.
}

// bucket is what is known of one quota of a server.
type bucket struct {
	until    time.Time // Nothing is sent before.
	held     Advice    // Why.
	counted  bool      // left and reset are known.
	left     int64     // Units that the last answer showed, less what was sent since.
	reset    time.Time
	shown    Advice // By which answer.
	inFlight int64
}

// New panics if the policy is not valid.
func New(policy Policy) *Throttle {
	if err := policy.Validate(); err != nil {
		panic(err)
	}
	inUse := func(b *bucket) bool { return b.inFlight > 0 }
	return &Throttle{policy: policy, clock: clock.System, buckets: lru[*bucket]{inUse: inUse}}
}

// Holding is a bucket to which nothing is sent now. Why is what the server said.
type Holding struct {
	Bucket string
	For    time.Duration
	Why    Advice
}

// Holdings are the buckets that are held now. The most recently used one is the first.
func (t *Throttle) Holdings() []Holding {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	now := t.clock.Now()
	var holdings []Holding
	for element := t.buckets.order.Front(); element != nil; element = element.Next() {
		known := element.Value.(*entry[*bucket])
		if known.value.until.After(now) {
			holdings = append(holdings, Holding{known.name, known.value.until.Sub(now), known.value.held})
		}
	}
	return holdings
}

// HeldError says that a request was not sent, because its quota is used up for longer than the caller waits.
type HeldError struct {
	Resource string
	// For is how long it is until the quota is available again. Advice is what an earlier response said.
	For    time.Duration
	Advice Advice
	limit  string
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("not sent: %s is held for %.3f s, longer than the %s allows (%s)", e.Resource, e.For.Seconds(), e.limit, e.Advice)
}

func (t *Throttle) bucket(name string) *bucket {
	known, ok := t.buckets.get(name)
	if !ok {
		known = &bucket{}
		t.buckets.put(name, known)
	}
	return known
}

// whileInFlight is how soon to look again while requests in flight use up what is left: their answers say more.
const whileInFlight = 50 * time.Millisecond

// enter is how long to wait before a request may be sent, and why; or 0 and the bucket that counts it.
func (t *Throttle) enter(host, resource string) (time.Duration, Advice, *bucket) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	now := t.clock.Now()
	name, ok := t.bucketOf.get(resource)
	if !ok {
		name = resource
	}
	own := t.bucket(name)
	if whole, ok := t.buckets.get(host); ok && whole.until.After(now) {
		return whole.until.Sub(now), whole.held, nil
	}
	if own.until.After(now) {
		return own.until.Sub(now), own.held, nil
	}
	if own.counted {
		untilReset := own.reset.Sub(now)
		switch {
		case untilReset <= 0:
			own.counted = false // A new window: the next answer says how much it holds.
		case own.left > t.policy.Headroom:
			own.left--
		case own.inFlight > 0 && untilReset > whileInFlight:
			return whileInFlight, own.shown, nil
		default:
			return untilReset, own.shown, nil
		}
	}
	own.inFlight++
	return 0, Advice{}, own
}

// leave ends what enter began. advice is nil if there was no response.
func (t *Throttle) leave(own *bucket, host, resource string, advice *Advice) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	own.inFlight--
	if advice == nil {
		return
	}
	now := t.clock.Now()
	if advice.Bucket != "" {
		name := host + " " + advice.Bucket
		t.bucketOf.put(resource, name)
		own = t.bucket(name)
	}
	if advice.Hold > 0 {
		held := own
		if advice.Everywhere {
			held = t.bucket(host)
		}
		if until := now.Add(advice.Hold); until.After(held.until) {
			held.until, held.held = until, *advice
		}
	}
	if advice.reset > 0 {
		own.counted, own.left, own.reset, own.shown = true, advice.left-own.inFlight, now.Add(advice.reset), *advice
	}
}

// Sending is one request, from before it is first sent until its last response. One goroutine uses it: it calls Before,
// sends, calls After or Failed, and if the advice is to wait calls Wait and begins again. Transports are made of it.
type Sending struct {
	throttle       *Throttle
	host, resource string
	bucket         *bucket
	attempt        int
}

// Start begins a request. host is what a limit for all buckets holds.
func (t *Throttle) Start(host, resource string) *Sending {
	return &Sending{throttle: t, host: host, resource: resource}
}

// Before waits until the request may be sent. It fails with a *HeldError, at once, if the wait would be above the cap or
// beyond the context's deadline, and with the context's error if that ends.
func (s *Sending) Before(ctx context.Context) error {
	t := s.throttle
	for {
		wait, advice, own := t.enter(s.host, s.resource)
		if own != nil {
			s.bucket = own
			s.attempt++
			return nil
		}
		if wait > t.policy.Cap {
			return &HeldError{s.resource, wait, advice, fmt.Sprintf("cap of %v", t.policy.Cap)}
		}
		extended := wait + time.Duration(float64(wait)*t.policy.Jitter*t.clock.Random())
		if deadline, ok := ctx.Deadline(); ok {
			left := deadline.Sub(t.clock.Now())
			if wait >= left {
				return &HeldError{s.resource, wait, advice, "deadline"}
			}
			if extended > left {
				extended = left
			}
		}
		t.logf("%s is held for %.3f s: %s", s.resource, wait.Seconds(), advice)
		if err := t.clock.Sleep(ctx, extended); err != nil {
			return err
		}
	}
}

// After says what to do with a response. method and idempotencyKey are the request's.
func (s *Sending) After(ctx context.Context, response Response, method string, idempotencyKey bool) Advice {
	t := s.throttle
	deadline, _ := ctx.Deadline()
	advice := Advise(response, Call{t.clock.Now(), method, idempotencyKey, s.attempt, deadline}, t.policy)
	if s.bucket != nil {
		t.leave(s.bucket, s.host, s.resource, &advice)
		s.bucket = nil
	}
	if advice.Action != Proceed {
		t.logf("%s answered %d, attempt %d: %s", s.resource, response.Status, s.attempt, advice)
	}
	return advice
}

// Failed says that there was no response. It does nothing after After.
func (s *Sending) Failed() {
	if s.bucket != nil {
		s.throttle.leave(s.bucket, s.host, s.resource, nil)
		s.bucket = nil
	}
}

// Wait sleeps as long as the advice says. It fails with the context's error if that ends.
func (s *Sending) Wait(ctx context.Context, advice Advice) error {
	return s.throttle.clock.Sleep(ctx, advice.After(s.throttle.clock.Random()))
}

func (t *Throttle) logf(format string, arguments ...any) {
	if t.Logf != nil {
		t.Logf(format, arguments...)
	}
}

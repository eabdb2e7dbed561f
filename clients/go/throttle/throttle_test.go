package throttle

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// fakeClock advances when somebody sleeps, and says who slept how long.
type fakeClock struct {
	mutex  sync.Mutex
	now    time.Time
	chance float64
	slept  []time.Duration
}

func (c *fakeClock) Now() time.Time {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.now
}

func (c *fakeClock) Random() float64 { return c.chance }

func (c *fakeClock) Sleep(ctx context.Context, d time.Duration) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.now, c.slept = c.now.Add(d), append(c.slept, d)
	return ctx.Err()
}

// until is a context that ends by the fake clock.
type until struct {
	context.Context
	end time.Time
}

func (u until) Deadline() (time.Time, bool) { return u.end, true }

func newFake(policy Policy) (*Throttle, *fakeClock) {
	fake := &fakeClock{now: time.Unix(1795953600, 0)}
	t := New(policy)
	t.clock = fake
	return t, fake
}

func within(fake *fakeClock, d time.Duration) context.Context {
	return until{context.Background(), fake.Now().Add(d)}
}

func header(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Add(pairs[i], pairs[i+1])
	}
	return h
}

// send sends once: how long it waited before, and the advice.
func send(t *testing.T, throttle *Throttle, fake *fakeClock, resource string, status int, pairs ...string) (time.Duration, Advice) {
	t.Helper()
	before := fake.Now()
	sending := throttle.Start("api.example", resource)
	if err := sending.Before(context.Background()); err != nil {
		t.Fatal(err)
	}
	waited := fake.Now().Sub(before)
	return waited, sending.After(context.Background(), Response{Status: status, Header: header(pairs...)}, "GET", false)
}

func waits(t *testing.T, throttle *Throttle, fake *fakeClock, resource string, want time.Duration, pairs ...string) {
	t.Helper()
	if got, _ := send(t, throttle, fake, resource, 200, pairs...); got != want {
		t.Errorf("%s waited %v and not %v", resource, got, want)
	}
}

func TestWaitsBeforeItSendsWhereTheQuotaIsUsedUp(t *testing.T) {
	throttle, fake := newFake(DefaultPolicy())
	var lines []string
	throttle.Logf = func(format string, arguments ...any) { lines = append(lines, fmt.Sprintf(format, arguments...)) }
	waits(t, throttle, fake, "/a", 0, "RateLimit", `"x";r=0;t=30`)
	held := throttle.Holdings()
	if len(held) != 1 || held[0].Bucket != "/a" || held[0].For != 30*time.Second ||
		held[0].Why.String() != "the quota is used up: ratelimit says 30.000 s" {
		t.Error(held)
	}
	waits(t, throttle, fake, "/b", 0) // Another resource goes on.
	waits(t, throttle, fake, "/a", 30*time.Second)
	if len(throttle.Holdings()) != 0 || len(lines) != 1 || !strings.HasPrefix(lines[0], "/a is held for 30.000 s: the quota is used up") {
		t.Error(throttle.Holdings(), lines)
	}
}

func TestJitterIsUpwards(t *testing.T) {
	throttle, fake := newFake(DefaultPolicy())
	fake.chance = 1
	waits(t, throttle, fake, "/a", 0, "RateLimit", `"x";r=0;t=30`)
	waits(t, throttle, fake, "/a", 36*time.Second)
}

func TestResourcesShareABucketThatTheServerNames(t *testing.T) {
	throttle, fake := newFake(DefaultPolicy())
	core := []string{"X-RateLimit-Resource", "core", "X-RateLimit-Reset", "30", "X-RateLimit-Remaining"}
	waits(t, throttle, fake, "/repos", 0, append(core, "9")...)
	waits(t, throttle, fake, "/users", 0, append(core, "0")...)
	waits(t, throttle, fake, "/search", 0, "X-RateLimit-Remaining", "9", "X-RateLimit-Resource", "search", "X-RateLimit-Reset", "30")
	waits(t, throttle, fake, "/search", 0)
	waits(t, throttle, fake, "/repos", 30*time.Second)
}

func TestALimitOfAllBucketsHoldsTheHost(t *testing.T) {
	throttle, fake := newFake(DefaultPolicy())
	_, advice := send(t, throttle, fake, "/a", 429, "Retry-After", "7", "X-RateLimit-Global", "true")
	if advice.Action != Wait || !advice.Everywhere {
		t.Error(advice)
	}
	elsewhere := throttle.Start("elsewhere", "/c")
	if err := elsewhere.Before(context.Background()); err != nil || len(fake.slept) != 0 {
		t.Error(err, fake.slept)
	}
	waits(t, throttle, fake, "/b", 7*time.Second)
}

func TestWhatIsInFlightCounts(t *testing.T) {
	throttle, fake := newFake(DefaultPolicy())
	waits(t, throttle, fake, "/a", 0, "RateLimit", `"x";r=2;t=30`)
	mayGo := func() bool {
		_, _, own := throttle.enter("h", "/a")
		if own != nil {
			throttle.leave(own, "h", "/a", nil)
			own.left++
		}
		return own != nil
	}
	first, second := throttle.Start("h", "/a"), throttle.Start("h", "/a")
	for _, sending := range []*Sending{first, second} {
		if err := sending.Before(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	if mayGo() {
		t.Error("two are left and two are under way")
	}
	first.After(context.Background(), Response{Status: 200, Header: header("RateLimit", `"x";r=1;t=29`)}, "GET", false)
	if mayGo() {
		t.Error("the one that is left is under way")
	}
	second.After(context.Background(), Response{Status: 200, Header: header("RateLimit", `"x";r=3;t=29`)}, "GET", false)
	if !mayGo() {
		t.Error("three are left and none is under way")
	}
}

func TestHeadroomIsLeftToOthers(t *testing.T) {
	policy := DefaultPolicy()
	policy.Headroom = 5
	throttle, fake := newFake(policy)
	waits(t, throttle, fake, "/a", 0, "RateLimit", `"x";r=6;t=30`)
	waits(t, throttle, fake, "/a", 0, "RateLimit", `"x";r=5;t=30`)
	waits(t, throttle, fake, "/a", 30*time.Second)
}

func TestANewWindowLiftsWhatWasKnown(t *testing.T) {
	throttle, fake := newFake(DefaultPolicy())
	waits(t, throttle, fake, "/a", 0, "RateLimit", `"x";r=1;t=30`)
	waits(t, throttle, fake, "/a", 0)
	fake.now = fake.now.Add(31 * time.Second)
	waits(t, throttle, fake, "/a", 0)
}

func TestCapAndDeadlineEndAHoldAtOnce(t *testing.T) {
	throttle, fake := newFake(DefaultPolicy())
	send(t, throttle, fake, "/a", 429, "Retry-After", "3600")
	var held *HeldError
	if err := throttle.Start("h", "/a").Before(context.Background()); !errors.As(err, &held) || held.For != time.Hour ||
		!strings.HasPrefix(err.Error(), "not sent: /a is held for 3600.000 s, longer than the cap of 1m0s allows") {
		t.Error(err)
	}
	send(t, throttle, fake, "/b", 429, "Retry-After", "30")
	if err := throttle.Start("h", "/b").Before(within(fake, 10*time.Second)); !errors.As(err, &held) ||
		!strings.Contains(err.Error(), "longer than the deadline allows") {
		t.Error(err)
	}
	if len(fake.slept) != 0 {
		t.Error(fake.slept)
	}
	fake.chance = 1
	if err := throttle.Start("h", "/b").Before(within(fake, 31*time.Second)); err != nil || fake.slept[0] != 31*time.Second {
		t.Error(err, fake.slept, "jitter does not go beyond the deadline")
	}
}

func TestACancelledContextEndsAWait(t *testing.T) {
	throttle := New(DefaultPolicy())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	sending := throttle.Start("h", "/a")
	if err := sending.Before(ctx); err != nil {
		t.Fatal(err) // Nothing holds it: the transport sees the context's end itself.
	}
	advice := sending.After(ctx, Response{Status: 429, Header: header("Retry-After", "30")}, "GET", false)
	if err := sending.Wait(ctx, advice); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := sending.Before(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	throttle, fake := newFake(DefaultPolicy())
	long := throttle.Start("h", "/long")
	if err := long.Before(context.Background()); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < 3*mostResources; i++ {
		send(t, throttle, fake, fmt.Sprint("/", i), 200, "X-RateLimit-Bucket", fmt.Sprint("b", i))
	}
	if n, m := len(throttle.buckets.byName), len(throttle.bucketOf.byName); n > mostResources || m > mostResources {
		t.Error(n, m)
	}
	if own, ok := throttle.buckets.get("/long"); !ok || own.inFlight != 1 {
		t.Error("a bucket was forgotten while a request was in flight")
	}
}

func TestGoroutinesShareAThrottle(t *testing.T) {
	throttle := New(DefaultPolicy())
	var group sync.WaitGroup
	for i := 0; i < 8; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for n := 0; n < 200; n++ {
				sending := throttle.Start("h", fmt.Sprint("/", n%7))
				if err := sending.Before(context.Background()); err != nil {
					t.Error(err)
					return
				}
				throttle.Holdings()
				sending.After(context.Background(), Response{Status: 200, Header: header("RateLimit", `"x";r=99;t=30`)}, "GET", false)
			}
		}()
	}
	group.Wait()
	for element := throttle.buckets.order.Front(); element != nil; element = element.Next() {
		if known := element.Value.(*entry[*bucket]); known.value.inFlight != 0 {
			t.Error(known.name, known.value.inFlight)
		}
	}
}

func TestAPolicyThatIsNotValid(t *testing.T) {
	for _, wrong := range []func(*Policy){
		func(p *Policy) { p.MaxAttempts = 0 }, func(p *Policy) { p.Cap = -1 }, func(p *Policy) { p.Base = 0 },
		func(p *Policy) { p.Jitter = -0.1 }, func(p *Policy) { p.Headroom = -1 },
	} {
		policy := DefaultPolicy()
		wrong(&policy)
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v is accepted", policy)
				}
			}()
			New(policy)
		}()
	}
}

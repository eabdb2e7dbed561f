package sluice

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice.example/sluice/internal/testdaemon"
	"sluice.example/sluice/throttle"
)

var background = context.Background()

// patient is long enough for a busy machine.
const patient = 20 * time.Second

func newClient(t testing.TB, config Config) *Client {
	t.Helper()
	if config.Timeout == 0 {
		config.Timeout = patient
	}
	if config.Logf == nil {
		config.Logf = t.Logf
	}
	c, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func withDaemon(t testing.TB) (*Client, *testdaemon.Daemon) {
	t.Helper()
	daemon := testdaemon.Start(t, testdaemon.Rules)
	return newClient(t, Config{URL: daemon.URL}), daemon
}

func at(endpoint string) Attributes {
	return Attributes{"user_id": "u", "tenant": "t", "endpoint": endpoint}
}

// must is the value of a call that does not fail.
func must[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func same(t testing.TB, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func wantCallError(t testing.TB, err error, status int, code string) {
	t.Helper()
	var wrong *CallError
	if !errors.As(err, &wrong) || wrong.Status != status || wrong.Code != code {
		t.Errorf("got %v, want %d %s", err, status, code)
	}
}

func TestCheckAllowsUpToTheLimitAndSaysWhenToComeBack(t *testing.T) {
	c, _ := withDaemon(t)
	for left := int64(2); left >= 0; left-- {
		d := must(c.Check(background, at("/api")))(t)
		same(t, []any{d.Allowed, d.Status, d.Remaining, d.RetryAfter, d.Reason(), d.Why()},
			[]any{true, 200, left, time.Duration(0), "", "allowed by api"})
	}
	d := must(c.Check(background, at("/api")))(t)
	same(t, []any{d.Allowed, d.Status, d.Reason(), d.DeniedBy().Name, d.Degraded}, []any{false, 429, "quota_exceeded", "api", false})
	if d.RetryAfter <= 1000*time.Second || d.RetryAfter > 1200*time.Second || time.Until(d.ResetAt) < 50*time.Minute {
		t.Error(d.RetryAfter, d.ResetAt)
	}
	header := http.Header{}
	d.CopyHeader(header)
	if header.Get("RateLimit") == "" || header.Get("Date") != "" || header.Get("Retry-After") == "" {
		t.Error(header)
	}
	if !strings.HasPrefix(d.String(), "denied by api: quota_exceeded; again in 1") {
		t.Error(d)
	}
}

func TestCheckWithoutARule(t *testing.T) {
	c, _ := withDaemon(t)
	d := must(c.Check(background, nil))(t)
	same(t, []any{d.Allowed, len(d.Limits), d.Remaining, d.ResetAt.IsZero(), d.Why()},
		[]any{true, 0, int64(-1), true, "allowed: no rule applies"})
}

func TestWaitingDoesNotHelp(t *testing.T) {
	c, _ := withDaemon(t)
	never := must(c.Check(background, at("/never")))(t)
	large := must(c.Check(background, at("/api"), Cost(9)))(t)
	same(t, []any{never.Reason(), never.RetryAfter, large.Reason(), large.RetryAfter},
		[]any{"limit_zero", time.Duration(0), "cost_exceeds_capacity", time.Duration(0)})
	if !strings.HasSuffix(never.Why(), "waiting does not help") {
		t.Error(never)
	}
}

func TestPeekAndStatusChargeNothing(t *testing.T) {
	c, _ := withDaemon(t)
	same(t, must(c.Check(background, at("/api"), Peek()))(t).Remaining, int64(3))
	same(t, must(c.Status(background, at("/api")))(t).Remaining, int64(3))
	same(t, must(c.Status(background, at("/api"), Cost(4)))(t).Allowed, false)
	same(t, must(c.Check(background, at("/api")))(t).Remaining, int64(2))
}

func TestAttributesOfAllTypesAndNames(t *testing.T) {
	c, _ := withDaemon(t)
	odd := Attributes{"user_id": "u", "endpoint": "/api", "cost": "x", "n": 1, "f": 1.5, "yes": true, "no": nil, "Ünïcode ☃": "\"\n<&>"}
	same(t, must(c.Check(background, odd))(t).Remaining, int64(2))
	delete(odd, "cost")
	same(t, must(c.Status(background, odd))(t).Remaining, int64(2))
	_, err := c.Check(background, Attributes{"f": func() {}})
	wantCallError(t, err, 0, "invalid_attributes")
}

func TestAnIdempotencyKeyChargesOnce(t *testing.T) {
	c, _ := withDaemon(t)
	for i := 0; i < 2; i++ {
		same(t, must(c.Check(background, at("/api"), IdempotencyKey("k")))(t).Remaining, int64(2))
	}
	_, err := c.Check(background, at("/api"), Cost(2), IdempotencyKey("k"))
	wantCallError(t, err, 422, "key_reused")
	for _, key := range []string{"a\r\nb", "ä", strings.Repeat("x", 257)} {
		_, err = c.Check(background, at("/api"), IdempotencyKey(key))
		wantCallError(t, err, 0, "invalid_idempotency_key")
	}
}

func TestAWrongCallIsAnErrorAndNoDenial(t *testing.T) {
	c, daemon := withDaemon(t)
	d, err := c.Check(background, at("/api"), Cost(-1))
	wantCallError(t, err, 400, "invalid_cost")
	same(t, []bool{d.Allowed, d.Degraded}, []bool{true, true})
	_, err = newClient(t, Config{URL: daemon.URL + "/nothing"}).Check(background, at("/api"))
	wantCallError(t, err, 404, "")
}

func TestABatch(t *testing.T) {
	c, _ := withDaemon(t)
	two := NewCheck(at("/api"), Cost(2))
	decisions := must(c.CheckMany(background, []Check{two, two, NewCheck(at("/api"))}))(t)
	same(t, []bool{decisions[0].Allowed, decisions[1].Allowed, decisions[2].Allowed}, []bool{true, false, true})
	same(t, []any{decisions[1].Reason(), decisions[1].Status}, []any{"quota_exceeded", 429})
	same(t, len(must(c.CheckMany(background, nil))(t)), 0)
	decisions, err := c.CheckMany(background, []Check{NewCheck(at("/llm")), NewCheck(at("/llm"), Cost(-1))})
	wantCallError(t, err, 400, "invalid_cost")
	same(t, []bool{decisions[0].Degraded, decisions[1].Degraded}, []bool{false, true})
}

func TestAReceiptGivesBackOnce(t *testing.T) {
	c, _ := withDaemon(t)
	receipt := must(c.Check(background, at("/api"), Cost(3), ForRefund()))(t).Receipt
	same(t, must(c.Refund(background, receipt))(t), map[string]int64{"api": 3})
	must(c.Refund(background, receipt))(t)
	same(t, must(c.Status(background, at("/api")))(t).Remaining, int64(3))
	if _, err := c.Refund(background, "nonsense"); err == nil {
		t.Error("nonsense is refunded")
	}
}

func TestReserveSettlesAtTheActualCost(t *testing.T) {
	c, _ := withDaemon(t)
	remaining := func() int64 { return must(c.Status(background, at("/llm")))(t).Remaining }
	var reservation *Reservation
	func() {
		ctx, cancel := context.WithCancel(background)
		reservation = must(c.Reserve(ctx, at("/llm"), 500))(t)
		defer reservation.Close()
		same(t, remaining(), int64(500))
		cancel() // The caller has gone, and its cost is due all the same.
		reservation.SetCost(312)
	}()
	same(t, reservation.Settled(), []Settled{{"tokens", 500, 312}})
	same(t, remaining(), int64(688))
	reservation.SetCost(1)
	reservation.Close()
	same(t, remaining(), int64(688))

	kept := must(c.Reserve(background, at("/llm"), 88))(t)
	kept.Close() // Without a cost, as after an error: the estimate stays charged.
	same(t, remaining(), int64(600))
	var denied *DeniedError
	if _, err := c.Reserve(background, at("/llm"), 601); !errors.As(err, &denied) || denied.Decision.Reason() != "quota_exceeded" {
		t.Error(err)
	}
}

func TestHoldReleases(t *testing.T) {
	c, _ := withDaemon(t)
	hold := must(c.Hold(background, at("/jobs")))(t)
	same(t, hold.Decision.Holds[0].Name, "jobs")
	var denied *DeniedError
	if _, err := c.Hold(background, at("/jobs")); !errors.As(err, &denied) || denied.Decision.Reason() != "in_flight" ||
		denied.Decision.RetryAfter != time.Second {
		t.Error(err)
	}
	hold.Release()
	hold.Release()
	same(t, must(c.Status(background, at("/jobs")))(t).Allowed, true)
	free := must(c.Hold(background, at("/elsewhere")))(t) // No rule, no slot.
	free.Release()
}

func TestHoldRenewsAndSaysWhenItIsLost(t *testing.T) {
	c, _ := withDaemon(t)
	decision := must(c.Check(background, at("/jobs")))(t)
	if every := decision.renewalInterval(time.Time{}); every < 2500*time.Millisecond || every > 3700*time.Millisecond {
		t.Error("a third of 10 s is", every)
	}
	hold := c.holdOf(decision, time.Millisecond)
	testdaemon.Until(t, func() bool {
		hold.mutex.Lock()
		defer hold.mutex.Unlock()
		return hold.renewals >= 2
	})
	select {
	case <-hold.Lost():
		t.Error("it is lost")
	default:
	}
	must(c.Release(background, decision.Holds...))(t)
	<-hold.Lost()
	hold.Release()
}

// noSleep is a clock that notes how long somebody would have slept.
type noSleep struct {
	now    time.Time
	chance float64
	slept  []time.Duration
}

func (n *noSleep) Now() time.Time  { return n.now }
func (n *noSleep) Random() float64 { return n.chance }
func (n *noSleep) Sleep(ctx context.Context, d time.Duration) error {
	n.now, n.slept = n.now.Add(d), append(n.slept, d)
	return ctx.Err()
}

func TestAcquireWaitsAsLongAsTheDaemonSays(t *testing.T) {
	c, daemon := withDaemon(t)
	fake := &noSleep{now: time.Now(), chance: 1}
	c.clock = fake
	for i := 0; i < 3; i++ {
		must(c.Acquire(background, at("/api")))(t)
	}
	var denied *DeniedError
	if _, err := c.Acquire(background, at("/api")); !errors.As(err, &denied) || !strings.HasPrefix(err.Error(), "denied by api") {
		t.Error(err)
	}
	policy := throttle.DefaultPolicy()
	policy.Cap, policy.MaxAttempts = 2*time.Hour, 3
	long := newClient(t, Config{URL: daemon.URL, Policy: policy})
	long.clock = fake
	ctx, cancel := context.WithTimeout(background, time.Minute)
	defer cancel()
	if _, err := long.Acquire(ctx, at("/api")); !errors.As(err, &denied) {
		t.Error(err)
	}
	same(t, fake.slept, []time.Duration(nil)) // 20 minutes are above the cap, and beyond the deadline.
	// The daemon's clock does not follow the fake one, so each attempt waits, until there are none left.
	if _, err := long.Acquire(background, at("/api")); !errors.As(err, &denied) || len(fake.slept) != 2 {
		t.Error(err, fake.slept)
	}
	for _, slept := range fake.slept {
		if slept < 1200*time.Second || slept > 1440*time.Second {
			t.Error(slept)
		}
	}
}

func TestAcquireInRealTime(t *testing.T) {
	c, _ := withDaemon(t)
	for i := 0; i < 3; i++ { // 50 ms each.
		same(t, must(c.Acquire(background, at("/quick")))(t).Allowed, true)
	}
}

func TestManyGoroutinesShareAClient(t *testing.T) {
	c, _ := withDaemon(t)
	var group sync.WaitGroup
	var mutex sync.Mutex
	allowed := 0
	for i := 0; i < 8; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for n := 0; n < 20; n++ {
				ctx, cancel := context.WithTimeout(background, patient)
				d, err := c.Check(ctx, at("/llm"), Cost(10))
				cancel()
				if err != nil {
					t.Error(err)
				}
				mutex.Lock()
				if d.Allowed {
					allowed++
				}
				mutex.Unlock()
			}
		}()
	}
	group.Wait()
	same(t, allowed, 100)
	if len(c.pool.idle) > 8 {
		t.Error(len(c.pool.idle), "connections")
	}
	before := len(c.pool.idle)
	must(c.Check(background, at("/llm")))(t)
	same(t, len(c.pool.idle), before)
}

func TestParametersThatAreNotValid(t *testing.T) {
	for _, wrong := range []Config{
		{URL: "127.0.0.1:8080"}, {URL: "redis://h"}, {URL: "http://h/?q"}, {Fail: "ajar"}, {Timeout: -1}, {Retries: -2},
		{Token: "a\nb"}, {MaxIdle: -1}, {Policy: throttle.Policy{MaxAttempts: 1}},
	} {
		if _, err := New(wrong); err == nil {
			t.Errorf("%+v is accepted", wrong)
		}
	}
	for _, wrong := range []func(){func() { NewBreaker(0, 1) }, func() { NewBreaker(1, 0) }} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("a breaker is accepted")
				}
			}()
			wrong()
		}()
	}
	same(t, fmt.Sprint(&CallError{400, "invalid_cost", "x"}), "Sluice refused the call: 400 invalid_cost: x")
}

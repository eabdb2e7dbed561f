// Package sluice asks a Sluice daemon whether a request may pass.
//
// Make one Client for a process, and share it:
//
//	client, err := sluice.New(sluice.Config{URL: "http://127.0.0.1:8080"})
//	decision, err := client.Check(ctx, sluice.Attributes{"user_id": "u_42", "endpoint": "/charges"})
//	if decision.Allowed { ... }
//
// If Sluice does not answer, the fail mode decides within the timeout, and a breaker decides at once while Sluice is away.
// Package throttle keeps your own calls within the limits of other servers.
package sluice

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"sluice.example/sluice/internal/clock"
	"sluice.example/sluice/throttle"
)

// Client asks a Sluice daemon over HTTP. Any number of goroutines may use it.
type Client struct {
	heads    heads
	pool     pool
	timeout  time.Duration
	attempts int
	fail     FailMode
	breaker  *Breaker
	policy   throttle.Policy
	logf     func(format string, arguments ...any)
	clock    clock.Clock
	loggedAt atomic.Int64 // Unix seconds of the last call of a middleware that was wrong.
}

// Close closes the idle connections. The client can still be used.
func (c *Client) Close() { c.pool.close() }

// Check is whether a request with these attributes may pass now. If so, it charges its cost. It does not wait.
//
// The decision is never nil: if Sluice does not answer within the timeout, the fail mode decides, and Degraded is true. The error
// is a *CallError if the call is wrong, and the context's if that ended before the answer came; then too, the fail mode decides.
func (c *Client) Check(ctx context.Context, attributes Attributes, options ...CheckOption) (*Decision, error) {
	check := NewCheck(attributes, options...)
	if check.key == "" && c.attempts > 1 && !check.body.Peek {
		check.key = newKey()
	}
	request, err := c.heads.postOf("check", check.key, check.body)
	if err != nil {
		return c.withoutSluice(err), err
	}
	return c.decide(c.send(ctx, request, check.timeout, c.attempts))
}

// decide reads the answer to a check, or lets the fail mode decide.
func (c *Client) decide(got *reply, err error) (*Decision, error) {
	if err == nil {
		var decision *Decision
		if decision, err = decisionOf(got.status, parseAnswer(got), got); err == nil {
			return decision, nil
		}
	}
	var unavailable *UnavailableError
	if errors.As(err, &unavailable) {
		return c.withoutSluice(unavailable.Cause), nil
	}
	return c.withoutSluice(err), err
}

// CheckMany does up to 1,000 checks in one call. Each is judged on its own, and the decisions are in the same order.
//
// A batch carries no idempotency key, so it is sent once. The decisions are as many as the checks, also with an error: as
// with Check, the fail mode decides where Sluice did not. If one check is wrong there is a *CallError, and the others were charged.
func (c *Client) CheckMany(ctx context.Context, checks []Check) ([]*Decision, error) {
	if len(checks) == 0 {
		return nil, nil
	}
	bodies := make([]checkBody, len(checks))
	for i, check := range checks {
		bodies[i] = check.body
	}
	var answers []answer
	request, err := c.heads.postOf("batch", "", bodies)
	if err == nil {
		err = c.ask(ctx, request, 1, &answers)
	}
	if err == nil && len(answers) != len(checks) {
		err = &UnavailableError{errors.New("the answer to a batch has another length than the batch")}
	}
	decisions := make([]*Decision, len(checks))
	if err != nil {
		decision, err := c.decide(nil, err)
		for i := range decisions {
			decisions[i] = decision
		}
		return decisions, err
	}
	for i := range answers {
		decision, wrong := decisionOf(answers[i].Status, &answers[i], nil)
		if wrong != nil {
			decision, wrong = c.decide(nil, wrong)
		}
		decisions[i] = decision
		if err == nil {
			err = wrong
		}
	}
	return decisions, err
}

// Acquire waits until a request may pass: as long as the daemon says, a little longer at random, and never shorter.
//
// If the wait would be longer than the context's deadline or the policy allows, it fails at once with a *DeniedError.
// Otherwise it fails as Check does.
func (c *Client) Acquire(ctx context.Context, attributes Attributes, options ...CheckOption) (*Decision, error) {
	deadline, _ := ctx.Deadline()
	for attempt := 1; ; attempt++ {
		decision, err := c.Check(ctx, attributes, options...)
		if err != nil || decision.Allowed {
			return decision, err
		}
		call := throttle.Call{Now: c.clock.Now(), Method: "POST", IdempotencyKey: true, Attempt: attempt, Deadline: deadline}
		advice := throttle.Advise(decision.response(), call, c.policy)
		if advice.Action != throttle.Wait {
			return decision, &DeniedError{decision}
		}
		if err := c.clock.Sleep(ctx, advice.After(c.clock.Random())); err != nil {
			return decision, err
		}
	}
}

// Status is what a check would answer now. It charges nothing. It can fail with an *UnavailableError.
func (c *Client) Status(ctx context.Context, attributes Attributes, options ...CheckOption) (*Decision, error) {
	check := NewCheck(attributes, options...)
	request, err := c.heads.getStatus(check)
	if err != nil {
		return nil, err
	}
	got, err := c.send(ctx, request, check.timeout, c.attempts)
	if err != nil {
		return nil, err
	}
	return decisionOf(got.status, parseAnswer(got), got)
}

// Settle charges the actual cost of a reservation. costs, which may be nil, are attributes that rules use as their cost.
// Only the first settlement counts, so it is safe to repeat. It can fail with an *UnavailableError.
func (c *Client) Settle(ctx context.Context, reservation string, cost int64, costs map[string]int64) ([]Settled, error) {
	body := map[string]any{}
	for name, units := range costs {
		body[name] = units
	}
	body["reservation"], body["cost"] = reservation, cost
	var said struct{ Settled []Settled }
	err := c.post(ctx, "settle", body, &said)
	return said.Settled, err
}

// Refund gives a charge back: units by rule. It works once, so it is safe to repeat. It can fail with an *UnavailableError.
func (c *Client) Refund(ctx context.Context, receipt string) (map[string]int64, error) {
	var said struct {
		Refunded []struct {
			Name  string
			Units int64
		}
	}
	if err := c.post(ctx, "refund", map[string]any{"receipt": receipt}, &said); err != nil {
		return nil, err
	}
	units := make(map[string]int64, len(said.Refunded))
	for _, one := range said.Refunded {
		units[one.Name] = one.Units
	}
	return units, nil
}

// Release frees slots, and says how many were still held. It is safe to repeat. It can fail with an *UnavailableError.
func (c *Client) Release(ctx context.Context, holds ...HoldToken) (int, error) {
	var said struct{ Released int }
	err := c.post(ctx, "release", map[string]any{"holds": holds}, &said)
	return said.Released, err
}

// Renew extends holds to the rule's `hold_ttl` from now. If one is gone, it fails with a *CallError whose code is "no_such_hold".
func (c *Client) Renew(ctx context.Context, holds ...HoldToken) (int, error) {
	var said struct{ Renewed int }
	err := c.post(ctx, "renew", map[string]any{"holds": holds}, &said)
	return said.Renewed, err
}

func (c *Client) post(ctx context.Context, verb string, body, into any) error {
	request, err := c.heads.postOf(verb, "", body)
	if err != nil {
		return err
	}
	return c.ask(ctx, request, c.attempts, into)
}

func (c *Client) ask(ctx context.Context, request []byte, attempts int, into any) error {
	got, err := c.send(ctx, request, 0, attempts)
	if err != nil {
		return err
	}
	return parse(got, into)
}

// withoutSluice is the decision of the fail mode.
func (c *Client) withoutSluice(cause error) *Decision {
	decision := &Decision{Allowed: c.fail == FailOpen, Status: 200, Remaining: -1, Degraded: true, cause: cause}
	if !decision.Allowed {
		decision.Status, decision.RetryAfter = 503, c.breaker.retryIn()
		if decision.RetryAfter < time.Second {
			decision.RetryAfter = time.Second
		}
	}
	return decision
}

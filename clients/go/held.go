package sluice

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"sluice.example/sluice/throttle"
)

// response is a denial as Acquire judges it.
func (d *Decision) response() throttle.Response {
	if d.reply != nil {
		return throttle.Response{Status: d.reply.status, Header: d.reply.header, Body: d.reply.body}
	}
	header := http.Header{}
	d.CopyHeader(header)
	return throttle.Response{Status: d.Status, Header: header}
}

// Reservation is an estimate that is charged. Close settles it at the cost that was set.
type Reservation struct {
	// Decision is that of the estimate.
	Decision *Decision

	client  *Client
	mutex   sync.Mutex
	known   bool
	cost    int64
	costs   map[string]int64
	settled []Settled
}

// Reserve charges an estimate. It fails with a *DeniedError if the request may not pass, and as Check does.
//
//	reservation, err := client.Reserve(ctx, attributes, 500)
//	if err != nil { ... }
//	defer reservation.Close()
//	...
//	reservation.SetCost(312)
func (c *Client) Reserve(ctx context.Context, attributes Attributes, estimate int64, options ...CheckOption) (*Reservation, error) {
	options = append([]CheckOption{Cost(estimate), ForSettle()}, options...)
	decision, err := c.Check(ctx, attributes, options...)
	if err != nil {
		return nil, err
	}
	if !decision.Allowed {
		return nil, &DeniedError{decision}
	}
	return &Reservation{Decision: decision, client: c}, nil
}

// SetCost sets the actual cost, for Close. The last one counts.
func (r *Reservation) SetCost(cost int64) { r.SetCosts(cost, nil) }

// SetCosts also sets attributes that rules use as their cost.
func (r *Reservation) SetCosts(cost int64, costs map[string]int64) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.known, r.cost, r.costs = true, cost, costs
}

// Close settles at the cost that was set, within the client's timeout. If none was, because of an error for instance, the estimate
// stays charged; so it does if the daemon does not answer. Only the first settlement counts.
func (r *Reservation) Close() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if !r.known || r.settled != nil || r.Decision.Reservation == "" {
		return
	}
	// Not with the context of the request: it may have ended, and the cost is due all the same.
	settled, err := r.client.Settle(context.Background(), r.Decision.Reservation, r.cost, r.costs)
	if err != nil {
		r.client.logf("sluice: a reservation stays charged at its estimate: %v", err)
	}
	r.settled = settled
}

// Settled is what Close settled, by rule. It is empty if Close did not.
func (r *Reservation) Settled() []Settled {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.settled
}

// Hold is slots of concurrency rules. They are renewed until Release.
type Hold struct {
	// Decision is that of the check.
	Decision *Decision

	client   *Client
	every    time.Duration
	lost     chan struct{}
	mutex    sync.Mutex
	timer    *time.Timer
	released bool
	renewals int
}

// Hold takes slots. It fails with a *DeniedError if none is free, and as Check does.
//
//	hold, err := client.Hold(ctx, attributes)
//	if err != nil { ... }
//	defer hold.Release()
func (c *Client) Hold(ctx context.Context, attributes Attributes, options ...CheckOption) (*Hold, error) {
	decision, err := c.Check(ctx, attributes, options...)
	if err != nil {
		return nil, err
	}
	if !decision.Allowed {
		return nil, &DeniedError{decision}
	}
	return c.holdOf(decision, decision.renewalInterval(c.clock.Now())), nil
}

func (c *Client) holdOf(decision *Decision, every time.Duration) *Hold {
	hold := &Hold{Decision: decision, client: c, every: every, lost: make(chan struct{}), released: len(decision.Holds) == 0}
	if !hold.released {
		hold.mutex.Lock()
		defer hold.mutex.Unlock()
		hold.timer = time.AfterFunc(every, hold.renew)
	}
	return hold
}

// renewalInterval is a third of the time that the holds have left.
//
// The answer says when all slots of the key are free again, in whole seconds, and a hold just granted is the last to
// expire. The server's Date is used where there is one, as the clocks may differ.
func (d *Decision) renewalInterval(now time.Time) time.Duration {
	if d.reply != nil {
		if date, err := http.ParseTime(d.reply.header.Get("Date")); err == nil {
			now = date
		}
	}
	left := 30 * time.Second
	var first time.Time
	for _, hold := range d.Holds {
		for _, limit := range d.Limits {
			if limit.Name == hold.Name && !limit.ResetAt.IsZero() && (first.IsZero() || limit.ResetAt.Before(first)) {
				first = limit.ResetAt
				left = first.Sub(now) - time.Second
			}
		}
	}
	if left < 300*time.Millisecond {
		left = 300 * time.Millisecond
	}
	return left / 3
}

// Lost is closed if the daemon says that the slots have expired or were reset: others may have them by then.
func (h *Hold) Lost() <-chan struct{} { return h.lost }

// Release frees the slots, within the client's timeout. If the daemon does not answer, the rule's `hold_ttl` frees them.
// Only the first call does anything.
func (h *Hold) Release() {
	h.mutex.Lock()
	released := h.released
	h.released = true
	if h.timer != nil {
		h.timer.Stop()
	}
	h.mutex.Unlock()
	if released {
		return
	}
	// Not with the context of the request: it may have ended, and the slots are to be freed all the same.
	if _, err := h.client.Release(context.Background(), h.Decision.Holds...); err != nil {
		h.client.logf("sluice: slots are held until they expire: %v", err)
	}
}

func (h *Hold) renew() {
	_, err := h.client.Renew(context.Background(), h.Decision.Holds...)
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.released {
		return
	}
	var wrong *CallError
	if errors.As(err, &wrong) {
		h.released = true
		close(h.lost)
		return
	}
	if err == nil {
		h.renewals++
	}
	h.timer.Reset(h.every)
}

// String is for logs.
func (h *Hold) String() string {
	return strconv.Itoa(len(h.Decision.Holds)) + " slots: " + h.Decision.Why()
}

package sluice

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Decision is whether a request may pass.
type Decision struct {
	// Allowed is the decision itself.
	Allowed bool
	// Status is what to answer to your own caller: 200, 429, 403 or 503.
	Status int
	// Remaining is how many units would be granted right now; -1 if nothing limits the request.
	Remaining int64
	// ResetAt is when the full limit is available again; the zero time if nothing limits the request.
	ResetAt time.Time
	// RetryAfter is when it is worth to try again: exact, not rounded. 0 if allowed, or if waiting does not help.
	RetryAfter time.Duration
	// Wait is how long an allowed request has to wait (a rule with `shape: true`).
	Wait time.Duration
	// Limits are the rules that applied, in their order. None if no rule did.
	Limits []Limit
	// Holds are the slots of concurrency rules that the request has taken.
	Holds []HoldToken
	// Reservation and Receipt are for Settle and Refund, if they were asked for.
	Reservation, Receipt string
	// Degraded: Sluice did not answer, and the fail mode decided.
	Degraded bool

	cause error // Of Degraded.
	reply *reply
}

// Limit is one rule that applied to a request.
type Limit struct {
	Name    string
	Allowed bool
	// Limit and Remaining are -1 if the rule does not say.
	Limit, Remaining int64
	ResetAt          time.Time
	// Reason is why it denied: a reason of docs/http-api.md.
	Reason     string
	RetryAfter time.Duration
	// Shadow: the rule is in shadow mode and did not count. Degraded: decided without the store.
	Shadow, Degraded bool
}

// HoldToken is one slot of a concurrency rule.
type HoldToken struct {
	Name string `json:"name"`
	ID   string `json:"id"`
}

// Settled is a rule's part of a settlement: what the reservation had charged, and what it is settled at.
type Settled struct {
	Name    string `json:"name"`
	Charged int64  `json:"charged"`
	Cost    int64  `json:"cost"`
}

// answer is any JSON object of the daemon: a decision, or a problem.
type answer struct {
	Allowed      *bool       `json:"allowed"`
	Remaining    *int64      `json:"remaining"`
	ResetAt      *int64      `json:"reset_at"`
	RetryAfterMs int64       `json:"retry_after_ms"`
	WaitMs       int64       `json:"wait_ms"`
	Waited       bool        `json:"waited"`
	Limits       []limit     `json:"limits"`
	Holds        []HoldToken `json:"holds"`
	Reservation  string      `json:"reservation"`
	Receipt      string      `json:"receipt"`
	Status       int         `json:"status"`
	Code         string      `json:"code"`
	Detail       string      `json:"detail"`
}

type limit struct {
	Name         string `json:"name"`
	Allowed      bool   `json:"allowed"`
	Limit        *int64 `json:"limit"`
	Remaining    *int64 `json:"remaining"`
	ResetAt      *int64 `json:"reset_at"`
	Reason       string `json:"reason"`
	RetryAfterMs int64  `json:"retry_after_ms"`
	Shadow       bool   `json:"shadow"`
	Degraded     bool   `json:"degraded"`
}

// decisionOf reads one answer. It fails with a *CallError or an *UnavailableError.
func decisionOf(status int, said *answer, from *reply) (*Decision, error) {
	if said.Allowed == nil {
		return nil, errorOf(status, said)
	}
	d := &Decision{
		Allowed: *said.Allowed, Status: status, Remaining: orUnknown(said.Remaining), ResetAt: timeOf(said.ResetAt),
		RetryAfter: milliseconds(said.RetryAfterMs), Holds: said.Holds, Reservation: said.Reservation, Receipt: said.Receipt,
		reply: from,
	}
	if !said.Waited {
		d.Wait = milliseconds(said.WaitMs)
	}
	if !d.Allowed && d.RetryAfter == 0 && from != nil { // Reason in_flight: the field says a second.
		seconds, _ := strconv.ParseUint(from.header.Get("Retry-After"), 10, 31)
		d.RetryAfter = time.Duration(seconds) * time.Second
	}
	if len(said.Limits) > 0 {
		d.Limits = make([]Limit, len(said.Limits))
	}
	for i, one := range said.Limits {
		d.Limits[i] = Limit{one.Name, one.Allowed, orUnknown(one.Limit), orUnknown(one.Remaining), timeOf(one.ResetAt),
			one.Reason, milliseconds(one.RetryAfterMs), one.Shadow, one.Degraded}
	}
	return d, nil
}

func parseAnswer(from *reply) *answer {
	said := &answer{}
	if json.Unmarshal(from.body, said) != nil {
		return &answer{}
	}
	return said
}

func orUnknown(value *int64) int64 {
	if value == nil {
		return -1
	}
	return *value
}

func timeOf(seconds *int64) time.Time {
	if seconds == nil {
		return time.Time{}
	}
	return time.Unix(*seconds, 0)
}

func milliseconds(ms int64) time.Duration {
	if ms > math.MaxInt64/int64(time.Millisecond) {
		return math.MaxInt64
	}
	return time.Duration(ms) * time.Millisecond
}

// DeniedBy is the first enforced rule that denied, or nil.
func (d *Decision) DeniedBy() *Limit {
	for i := range d.Limits {
		if !d.Limits[i].Allowed && !d.Limits[i].Shadow {
			return &d.Limits[i]
		}
	}
	return nil
}

// Reason is why it is denied: a reason of docs/http-api.md, or "sluice_unavailable". "" if allowed.
func (d *Decision) Reason() string {
	if d.Allowed {
		return ""
	}
	if d.Degraded {
		return "sluice_unavailable"
	}
	if by := d.DeniedBy(); by != nil {
		return by.Reason
	}
	return ""
}

// passedOn are the fields that a service passes on to its own callers.
var passedOn = []string{"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset", "X-Ratelimit-Used", "X-Ratelimit-Resource",
	"Ratelimit", "Ratelimit-Policy", "Retry-After"}

// CopyHeader sets Retry-After and the rate limit fields in a header, to pass them on to your own caller.
func (d *Decision) CopyHeader(to http.Header) {
	if d.reply == nil {
		if d.RetryAfter > 0 {
			to.Set("Retry-After", strconv.FormatInt(int64(math.Ceil(d.RetryAfter.Seconds())), 10))
		}
		return
	}
	for _, name := range passedOn {
		if values := d.reply.header[name]; values != nil {
			to[name] = append([]string(nil), values...)
		}
	}
}

// Why is the decision in a sentence, for logs.
func (d *Decision) Why() string {
	verb := "denied"
	if d.Allowed {
		verb = "allowed"
	}
	if d.Degraded {
		return fmt.Sprintf("%s without Sluice: %v", verb, d.cause)
	}
	if d.Allowed {
		var names []string
		for _, one := range d.Limits {
			names = append(names, one.Name)
		}
		if names == nil {
			return "allowed: no rule applies"
		}
		return "allowed by " + strings.Join(names, ", ")
	}
	name, when := "?", "waiting does not help"
	if by := d.DeniedBy(); by != nil {
		name = by.Name
	}
	if d.RetryAfter > 0 {
		when = fmt.Sprintf("again in %.3f s", d.RetryAfter.Seconds())
	}
	return fmt.Sprintf("denied by %s: %s; %s", name, d.Reason(), when)
}

// String is Why.
func (d *Decision) String() string { return d.Why() }

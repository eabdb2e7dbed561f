package throttle

import (
	"fmt"
	"net/http"
	"time"
)

// Policy is what a caller allows. Begin with DefaultPolicy and change what differs.
type Policy struct {
	// MaxAttempts is how often a request is sent at most, the first time included. At least 1.
	MaxAttempts int
	// Cap is the longest single wait. A server that asks for more is given up on.
	Cap time.Duration
	// Base is the first back-off, where the server says no time. It doubles with each attempt, up to Cap.
	Base time.Duration
	// Jitter is by which part a wait may be extended at random. A wait is never shortened.
	Jitter float64
	// Headroom is how many units of each quota are left to its other users.
	Headroom int64
}

// DefaultPolicy has 4 attempts, waits of up to a minute, a back-off from half a second on, and a jitter of 20 %.
func DefaultPolicy() Policy {
	return Policy{MaxAttempts: 4, Cap: time.Minute, Base: 500 * time.Millisecond, Jitter: 0.2}
}

// Validate says what is wrong with a policy, if anything is.
func (p Policy) Validate() error {
	if p.MaxAttempts < 1 || p.Cap < 0 || p.Base <= 0 || p.Jitter < 0 || p.Headroom < 0 {
		return fmt.Errorf("throttle: a policy has MaxAttempts of at least 1, Base above 0, and nothing negative: %+v", p)
	}
	return nil
}

// Response is what a server answered.
type Response struct {
	Status int
	Header http.Header
	// Body is needed only of 403, 429 and 503: GitHub's secondary limit, OpenAI's insufficient_quota, answers of Sluice.
	Body []byte
}

// Call is the request that got the response.
type Call struct {
	// Now is the wall clock when the response arrived. It is used where the response has no Date.
	Now time.Time
	// Method of the request. "" is GET.
	Method string
	// IdempotencyKey says that the request carried one.
	IdempotencyKey bool
	// Attempt is 1 for the first; so is 0.
	Attempt int
	// Deadline is when the caller's time is over. The zero time is never.
	Deadline time.Time
}

// Action is what to do with a response.
type Action string

const (
	Proceed Action = "proceed" // No limit refused the request: use the response.
	Wait    Action = "wait"    // Send the request again later.
	GiveUp  Action = "give_up" // Hand the response to the caller at once.
)

// Reason says why.
type Reason string

const (
	ReasonOK       Reason = "ok"
	ReasonUsedUp   Reason = "used_up"  // The response is good, and its quota is now used up.
	ReasonServer   Reason = "server"   // The server chose the wait.
	ReasonBackoff  Reason = "backoff"  // The server says no time.
	ReasonNever    Reason = "never"    // Waiting does not help.
	ReasonAttempts Reason = "attempts" // This was the last one.
	ReasonUnsafe   Reason = "unsafe"   // 503, and the request may have been processed.
	ReasonCap      Reason = "cap"      // The wait is above the policy's cap.
	ReasonDeadline Reason = "deadline" // The wait does not fit the caller's deadline.
)

// Advice is what to do with a response. String says it in a sentence.
type Advice struct {
	Action Action
	Reason Reason
	// Source is what the time was read from, such as "retry-after". "" if no time was read.
	Source string
	// Earliest and Latest are, if the action is Wait, when to send the request again.
	Earliest, Latest time.Duration
	// Hold is how long other requests to the same bucket must not be sent. At most a day.
	Hold time.Duration
	// Bucket is the name that the server gives to the bucket, or "". Everywhere: Hold counts for the whole host.
	Bucket     string
	Everywhere bool

	statedMs int64
	// Of the quota with the least units: those units, and when it is reset. 0 if unknown.
	left  int64
	reset time.Duration
}

// After is how long to wait, for a random number from 0 to 1. It is 0 unless the action is Wait.
func (a Advice) After(random float64) time.Duration {
	return a.Earliest + time.Duration(float64(a.Latest-a.Earliest)*random)
}

func (a Advice) String() string {
	stated := fmt.Sprintf("%s says %.3f s", a.Source, float64(a.statedMs)/1000)
	switch a.Reason {
	case ReasonOK:
		return "no limit"
	case ReasonUsedUp:
		return "the quota is used up: " + stated
	case ReasonServer:
		return "refused by a limit: " + stated
	case ReasonBackoff:
		return "refused by a limit that says no time: backing off"
	case ReasonNever:
		return "refused by a limit, and waiting does not help"
	case ReasonAttempts:
		return "refused by a limit, and this was the last attempt"
	case ReasonUnsafe:
		return "503, and the request may have been processed: it has no idempotency key"
	case ReasonCap:
		return "refused by a limit: " + stated + ", more than the cap"
	case ReasonDeadline:
		return "refused by a limit: " + stated + ", more than the deadline leaves"
	}
	return string(a.Reason)
}

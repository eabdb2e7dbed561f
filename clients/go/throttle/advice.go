package throttle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
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

const (
	dayMs             = 24 * 3600 * 1000
	githubSecondaryMs = 60000
)

// refusal is what the JSON body of a refusal may say.
type refusal struct {
	Allowed      *bool           `json:"allowed"`
	Limits       json.RawMessage `json:"limits"`
	RetryAfterMs json.RawMessage `json:"retry_after_ms"`
	Message      json.RawMessage `json:"message"`
	Error        json.RawMessage `json:"error"`
}

func readRefusal(response Response) refusal {
	var said refusal
	if response.Status != 403 && response.Status != 429 && response.Status != 503 || json.Unmarshal(response.Body, &said) != nil {
		return refusal{}
	}
	return said
}

// ofSluice is whether a Sluice daemon wrote it.
func (r refusal) ofSluice() bool {
	return r.Allowed != nil && !*r.Allowed && bytes.HasPrefix(r.Limits, []byte("["))
}

func (r refusal) secondaryLimit() bool {
	var message string
	return json.Unmarshal(r.Message, &message) == nil && strings.Contains(strings.ToLower(message), "secondary rate limit")
}

func (r refusal) insufficientQuota() bool {
	var err struct{ Code json.RawMessage }
	return json.Unmarshal(r.Error, &err) == nil && string(err.Code) == `"insufficient_quota"`
}

// statedTime is the time that the server asks to wait, and where it says so; 0 and "" if it does not.
func statedTime(known fields, said refusal, serverNowMs, nowMs int64) (int64, string) {
	if said.ofSluice() && integer.Match(said.RetryAfterMs) {
		if exact, err := strconv.ParseInt(string(said.RetryAfterMs), 10, 64); err == nil && exact > 0 {
			return least(exact, mostMs), "retry_after_ms"
		}
	}
	if ms, _ := decimalMs(known["retry-after-ms"], 1); ms != 0 {
		return ms, "retry-after-ms"
	}
	text := known["retry-after"]
	if ms, ok := decimalMs(text, 1000); ok {
		if ms == 0 {
			return 0, ""
		}
		return ms, "retry-after"
	}
	if at, ok := httpDateMs(text, nowMs); ok && at > serverNowMs {
		return at - serverNowMs, "retry-after"
	}
	return 0, ""
}

func isIdempotent(method string) bool {
	switch strings.ToUpper(method) {
	case "", "GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE":
		return true
	}
	return false
}

// Advise says what to do with a response of a server that limits rates. It keeps no state, and nothing that a response
// holds makes it fail. Every client of Sluice gives the same advice: clients/vectors has the rules and 251 cases.
func Advise(response Response, call Call, policy Policy) Advice {
	known := fieldsOf(response.Header)
	nowMs := call.Now.UnixMilli()
	serverNowMs, dated := httpDateMs(known["date"], nowMs)
	if !dated {
		serverNowMs = nowMs
	}
	said := readRefusal(response)
	askedMs, source := statedTime(known, said, serverNowMs, nowMs)
	status := response.Status
	secondary := (status == 403 || status == 429) && said.secondaryLimit()
	refused := status == 429 || status == 529 || (status == 403 || status == 503) && askedMs > 0 || secondary || said.ofSluice()
	family, quotas := quotasOf(known, refused, serverNowMs, nowMs)
	if status == 403 && family == "x-ratelimit" && quotas[0].remaining == 0 && quotas[0].resetMs > 0 {
		refused = true // GitHub's primary limit.
	}

	advice := Advice{Action: Proceed, Reason: ReasonOK, Bucket: known["x-ratelimit-bucket"]}
	if advice.Bucket == "" {
		advice.Bucket = known["x-ratelimit-resource"]
	}
	for _, q := range quotas {
		reset := milliseconds(least(q.resetMs, dayMs))
		if reset > 0 && (advice.reset == 0 || q.remaining < advice.left || q.remaining == advice.left && reset < advice.reset) {
			advice.left, advice.reset = q.remaining, reset
		}
	}
	if !refused {
		if ms := resetMs(quotas, policy.Headroom); ms > 0 {
			advice.Reason, advice.Source = ReasonUsedUp, family
			advice.hold(ms)
		}
		return advice
	}
	if known["x-should-retry"] == "false" || said.insufficientQuota() || said.ofSluice() && askedMs == 0 {
		advice.Action, advice.Reason = GiveUp, ReasonNever
		return advice
	}
	advice.Everywhere = secondary || known["x-ratelimit-global"] == "true" || known["x-ratelimit-scope"] == "global"
	capMs := policy.Cap.Milliseconds()
	if askedMs == 0 {
		askedMs, source = resetMs(quotas, 0), family
	}
	if askedMs == 0 {
		askedMs, source = backoffMs(policy.Base.Milliseconds(), capMs, call.Attempt, secondary), "backoff"
	}
	advice.Source = source
	advice.hold(askedMs)
	advice.wait(askedMs, capMs, status, call, policy)
	return advice
}

// backoffMs doubles with each attempt. GitHub asks for at least a minute after a secondary limit, whatever the cap.
func backoffMs(baseMs, capMs int64, attempt int, secondary bool) int64 {
	if secondary {
		baseMs, capMs = most(baseMs, githubSecondaryMs), most(capMs, githubSecondaryMs)
	}
	for ; attempt > 1 && baseMs < capMs; attempt-- {
		baseMs *= 2
	}
	return least(baseMs, capMs)
}

func (a *Advice) hold(ms int64) {
	a.Hold, a.statedMs = milliseconds(least(ms, dayMs)), ms
}

// wait decides whether the refused request is sent again, and when.
func (a *Advice) wait(askedMs, capMs int64, status int, call Call, policy Policy) {
	a.Action = GiveUp
	switch {
	case call.Attempt >= policy.MaxAttempts:
		a.Reason = ReasonAttempts
		return
	case status == 503 && !isIdempotent(call.Method) && !call.IdempotencyKey:
		a.Reason = ReasonUnsafe
		return
	case askedMs > capMs:
		a.Reason = ReasonCap
		return
	}
	latestMs := least(askedMs+int64(math.Min(float64(askedMs)*policy.Jitter, mostMs)), mostMs)
	if !call.Deadline.IsZero() {
		leftMs := call.Deadline.Sub(call.Now).Milliseconds()
		if askedMs >= leftMs {
			a.Reason = ReasonDeadline
			return
		}
		latestMs = least(latestMs, leftMs)
	}
	a.Action, a.Reason = Wait, ReasonServer
	if a.Source == "backoff" {
		a.Reason = ReasonBackoff
	}
	a.Earliest, a.Latest = milliseconds(askedMs), milliseconds(latestMs)
}

// milliseconds is at most the longest duration there is, 292 years.
func milliseconds(ms int64) time.Duration {
	return time.Duration(least(ms, math.MaxInt64/int64(time.Millisecond))) * time.Millisecond
}

package throttle

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"
)

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

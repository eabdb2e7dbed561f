package sluice

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Attributes are what the rules know of a request: strings, booleans, numbers. nil counts as absent.
type Attributes map[string]any

// Check is one element of a batch. NewCheck makes it.
type Check struct {
	body    checkBody
	key     string
	timeout time.Duration
}

type checkBody struct {
	Attributes Attributes `json:"attributes"`
	Cost       int64      `json:"cost"`
	Peek       bool       `json:"peek,omitempty"`
	Wait       bool       `json:"wait,omitempty"`
	Reserve    bool       `json:"reserve,omitempty"`
	Receipt    bool       `json:"receipt,omitempty"`
}

// CheckOption changes a check.
type CheckOption func(*Check)

// NewCheck is a check of a request with these attributes. It costs 1 unit, unless an option says otherwise.
func NewCheck(attributes Attributes, options ...CheckOption) Check {
	if attributes == nil {
		attributes = Attributes{}
	}
	check := Check{body: checkBody{Attributes: attributes, Cost: 1}}
	for _, option := range options {
		option(&check)
	}
	return check
}

// Cost is the units to charge, 0 to 999999999999999.
func Cost(units int64) CheckOption { return func(c *Check) { c.body.Cost = units } }

// Peek charges nothing.
func Peek() CheckOption { return func(c *Check) { c.body.Peek = true } }

// WaitInDaemon lets the daemon hold the answer back until a shaped request may go. Give it a Timeout that is long enough. It has no
// effect in a batch.
func WaitInDaemon() CheckOption { return func(c *Check) { c.body.Wait = true } }

// ForSettle gives the decision a Reservation, for Settle.
func ForSettle() CheckOption { return func(c *Check) { c.body.Reserve = true } }

// ForRefund gives the decision a Receipt, for Refund.
func ForRefund() CheckOption { return func(c *Check) { c.body.Receipt = true } }

// IdempotencyKey is of your caller's request, so that its retries are charged once: 1 to 256 visible characters of ASCII. It has no
// effect in a batch.
func IdempotencyKey(key string) CheckOption { return func(c *Check) { c.key = key } }

// Timeout is what this check may take at most, instead of Config.Timeout. It has no effect in a batch.
func Timeout(d time.Duration) CheckOption { return func(c *Check) { c.timeout = d } }

// heads are the lines of a request that are the same each time, by verb. Content-Length and an empty line are still missing.
type heads struct {
	post map[string][]byte
	// Of a GET: what is before and after the query.
	status, statusRest string
}

func headsOf(base *url.URL, token string) (heads, error) {
	path := strings.TrimSuffix(base.EscapedPath(), "/") + "/v1/ratelimit/"
	rest := " HTTP/1.1\r\nHost: " + base.Host + "\r\n"
	if token != "" {
		if !isVisible(token, "") {
			return heads{}, errors.New("the token has a character that HTTP does not allow")
		}
		rest += "Authorization: Bearer " + token + "\r\n"
	}
	made := heads{map[string][]byte{}, "GET " + path + "status?", rest + "\r\n"}
	for _, verb := range []string{"check", "batch", "settle", "refund", "release", "renew"} {
		made.post[verb] = []byte("POST " + path + verb + rest + "Content-Type: application/json\r\n")
	}
	return made, nil
}

// isVisible is whether a text has only visible characters of ASCII, and those of more.
func isVisible(text, more string) bool {
	for _, char := range text {
		if (char <= ' ' || char > '~') && !strings.ContainsRune(more, char) {
			return false
		}
	}
	return text != ""
}

func (h *heads) postOf(verb, key string, value any) ([]byte, error) {
	body, err := json.Marshal(value)
	if err != nil {
		return nil, &CallError{Code: "invalid_attributes", Detail: err.Error()}
	}
	head := h.post[verb]
	request := make([]byte, 0, len(head)+len(key)+len(body)+64)
	request = append(request, head...)
	if key != "" {
		if len(key) > 256 || !isVisible(key, "") {
			return nil, &CallError{Code: "invalid_idempotency_key", Detail: "1 to 256 visible characters of ASCII are expected"}
		}
		request = append(append(append(request, "Idempotency-Key: "...), key...), "\r\n"...)
	}
	request = append(request, "Content-Length: "...)
	request = strconv.AppendInt(request, int64(len(body)), 10)
	return append(append(request, "\r\n\r\n"...), body...), nil
}

func (h *heads) getStatus(check Check) ([]byte, error) {
	query := url.Values{}
	for name, value := range check.body.Attributes {
		switch value := value.(type) {
		case nil:
		case string:
			query.Set(name, value)
		default: // As JSON writes it.
			text, err := json.Marshal(value)
			if err != nil {
				return nil, &CallError{Code: "invalid_attributes", Detail: err.Error()}
			}
			query.Set(name, string(text))
		}
	}
	query.Set("cost", strconv.FormatInt(check.body.Cost, 10))
	return []byte(h.status + query.Encode() + h.statusRest), nil
}

// newKey is an idempotency key that no other process makes.
func newKey() string {
	var key [16]byte
	if _, err := rand.Read(key[:]); err != nil {
		panic(err) // The system has no random numbers.
	}
	return hex.EncodeToString(key[:])
}

// notOurs is whether a status without a decision is a proxy's, or that of a daemon which shuts down.
func notOurs(status int) bool {
	switch status {
	case 408, 429, 502, 503, 504:
		return true
	}
	return false
}

func errorOf(status int, said *answer) error {
	detail := said.Detail
	if detail == "" {
		detail = "no detail"
	}
	if notOurs(status) || status == 500 || status == 200 {
		return &UnavailableError{fmt.Errorf("status %d: %s", status, detail)}
	}
	return &CallError{status, said.Code, detail}
}

// parse reads a response into a value, if its status is 200.
func parse(from *reply, into any) error {
	if from.status != http.StatusOK {
		return errorOf(from.status, parseAnswer(from))
	}
	if err := json.Unmarshal(from.body, into); err != nil {
		return &UnavailableError{fmt.Errorf("the response is not of Sluice: %w", err)}
	}
	return nil
}

// hostPort is the address of a URL, with the scheme's port if it has none.
func hostPort(base *url.URL) string {
	if base.Port() != "" {
		return base.Host
	}
	if base.Scheme == "https" {
		return net.JoinHostPort(base.Hostname(), "443")
	}
	return net.JoinHostPort(base.Hostname(), "80")
}

package sluice

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/url"
	"time"

	"sluice.example/sluice/internal/clock"
	"sluice.example/sluice/throttle"
)

// FailMode is what a check decides when Sluice does not answer.
type FailMode string

const (
	FailOpen   FailMode = "open"   // Requests pass.
	FailClosed FailMode = "closed" // Requests are denied with 503.
)

// NoRetries as Config.Retries sends each call once, and no idempotency key.
const NoRetries = -1

// Config is how a Client asks. The zero value of each member is what it says.
type Config struct {
	// URL of a check listener. "" is http://127.0.0.1:8080.
	URL string
	// Token of the listener, if it has `auth`.
	Token string
	// Timeout is what a call takes at most, connecting and retries included; a context that ends before wins. 0 is 100 ms.
	Timeout time.Duration
	// Retries is how often a call is sent again that failed on the way. With retries, a check carries an idempotency key, so it is
	// charged once; the daemon keeps its answer for that. 0 is 1; NoRetries is none.
	Retries int
	// Fail is what Check decides when Sluice does not answer. "" is FailOpen.
	Fail FailMode
	// Breaker is when to stop asking a daemon that does not answer. nil is NewBreaker(3, time.Second).
	Breaker *Breaker
	// Policy is how Acquire waits. The zero value is throttle.DefaultPolicy.
	Policy throttle.Policy
	// TLS is for https. nil verifies with the system's certificates.
	TLS *tls.Config
	// Dial connects, for instance to a Unix socket. nil is that of net.Dialer.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// MaxIdle is how many connections are kept open between calls. 0 is 32.
	MaxIdle int
	// Logf gets a line when the breaker opens and closes, and for calls of a middleware that are wrong. nil is log.Printf.
	Logf func(format string, arguments ...any)
}

// New makes a Client. It connects with the first call.
func New(config Config) (*Client, error) {
	if config.URL == "" {
		config.URL = "http://127.0.0.1:8080"
	}
	base, err := url.Parse(config.URL)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Hostname() == "" || base.RawQuery != "" || base.Fragment != "" {
		return nil, fmt.Errorf("sluice: URL: expected http://HOST:PORT or https://HOST:PORT, got %q", config.URL)
	}
	if config.Fail == "" {
		config.Fail = FailOpen
	}
	if config.Fail != FailOpen && config.Fail != FailClosed {
		return nil, fmt.Errorf(`sluice: Fail: expected "open" or "closed", got %q`, config.Fail)
	}
	if config.Timeout < 0 || config.Retries < NoRetries || config.MaxIdle < 0 {
		return nil, errors.New("sluice: Timeout, Retries and MaxIdle are not negative")
	}
	heads, err := headsOf(base, config.Token)
	if err != nil {
		return nil, fmt.Errorf("sluice: %w", err)
	}
	c := &Client{
		heads: heads, timeout: config.Timeout, attempts: 1 + config.Retries, fail: config.Fail, breaker: config.Breaker,
		policy: config.Policy, logf: config.Logf, clock: clock.System,
	}
	c.pool.address, c.pool.dial, c.pool.most = hostPort(base), config.Dial, config.MaxIdle
	if config.Timeout == 0 {
		c.timeout = 100 * time.Millisecond
	}
	switch config.Retries {
	case 0:
		c.attempts = 2
	case NoRetries:
		c.attempts = 1
	}
	if c.breaker == nil {
		c.breaker = NewBreaker(3, time.Second)
	}
	if c.policy == (throttle.Policy{}) {
		c.policy = throttle.DefaultPolicy()
	}
	if err := c.policy.Validate(); err != nil {
		return nil, fmt.Errorf("sluice: %w", err)
	}
	if c.logf == nil {
		c.logf = log.Printf
	}
	if c.pool.dial == nil {
		c.pool.dial = new(net.Dialer).DialContext
	}
	if c.pool.most == 0 {
		c.pool.most = 32
	}
	if base.Scheme == "https" {
		c.pool.tls = &tls.Config{}
		if config.TLS != nil {
			c.pool.tls = config.TLS.Clone()
		}
		if c.pool.tls.ServerName == "" {
			c.pool.tls.ServerName = base.Hostname()
		}
	}
	return c, nil
}

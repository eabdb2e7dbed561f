package sluice

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/netip"
	"strconv"
)

// MiddlewareConfig is how a middleware asks. The zero value of each member is what it says.
type MiddlewareConfig struct {
	// Attributes makes the attributes of a request. nil attributes are a request that is not limited. The member itself nil is
	// RequestAttributes. Only use what you have verified.
	Attributes func(*http.Request) Attributes
	// Options of each check, such as Cost.
	Options []CheckOption
	// Denied answers a request that may not pass. The rate limit fields are set by then. nil is WriteDenial.
	Denied func(http.ResponseWriter, *http.Request, *Decision)
}

// RequestAttributes are ip, method, and endpoint (the path). Behind a proxy, ip is the proxy's address.
func RequestAttributes(request *http.Request) Attributes {
	attributes := Attributes{"method": request.Method, "endpoint": request.URL.Path}
	if from, err := netip.ParseAddrPort(request.RemoteAddr); err == nil { // Not over a Unix socket.
		attributes["ip"] = from.Addr().Unmap().WithZone("").String()
	}
	return attributes
}

type decisionKey struct{}

// FromContext is the decision of a middleware or interceptor for the present request, or nil if it was not limited.
func FromContext(ctx context.Context) *Decision {
	decision, _ := ctx.Value(decisionKey{}).(*Decision)
	return decision
}

// NewContext is a context that has a decision. Middlewares and interceptors use it.
func NewContext(ctx context.Context, decision *Decision) context.Context {
	return context.WithValue(ctx, decisionKey{}, decision)
}

// Middleware asks Sluice before each request. A denied one is answered here, with 429, 403 or 503, Retry-After and the rate limit
// fields. Responses of allowed requests get the rate limit fields. Slots of concurrency rules are held until the handler returns.
func Middleware(client *Client, config MiddlewareConfig) func(http.Handler) http.Handler {
	attributesOf, denied := config.Attributes, config.Denied
	if attributesOf == nil {
		attributesOf = RequestAttributes
	}
	if denied == nil {
		denied = WriteDenial
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			attributes := attributesOf(r)
			if attributes == nil {
				next.ServeHTTP(w, r)
				return
			}
			hold := client.Enter(r.Context(), attributes, config.Options...)
			defer hold.Release()
			hold.Decision.CopyHeader(w.Header())
			if !hold.Decision.Allowed {
				denied(w, r, hold.Decision)
				return
			}
			next.ServeHTTP(w, r.WithContext(NewContext(r.Context(), hold.Decision)))
		})
	}
}

// Enter is Check for middlewares of other frameworks. It never fails: a call that is wrong is logged, at most once a minute, and
// the fail mode decides, because a limiter must not be the reason for an outage. Release the hold when the request is done.
func (c *Client) Enter(ctx context.Context, attributes Attributes, options ...CheckOption) *Hold {
	decision, err := c.Check(ctx, attributes, options...)
	var wrong *CallError
	if errors.As(err, &wrong) {
		now, before := c.clock.Now().Unix(), c.loggedAt.Load()
		if now-before >= 60 && c.loggedAt.CompareAndSwap(before, now) {
			c.logf("%v; the fail mode decides until this is mended", wrong)
		}
	}
	return c.holdOf(decision, decision.renewalInterval(c.clock.Now()))
}

// WriteDenial answers a denied request with a problem document (RFC 9457). The rules' names are not in it, other than in the limit
// fields.
func WriteDenial(w http.ResponseWriter, _ *http.Request, decision *Decision) {
	body, _ := json.Marshal(struct {
		Type   string `json:"type"`
		Title  string `json:"title"`
		Status int    `json:"status"`
		Reason string `json:"reason,omitempty"`
	}{"about:blank", http.StatusText(decision.Status), decision.Status, decision.Reason()})
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(decision.Status)
	_, _ = w.Write(body) // If it fails, the client has gone.
}

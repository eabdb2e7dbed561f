package throttle

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"sync"
)

// Transport is an http.RoundTripper that keeps to the limits of the servers it talks to. It waits before it sends where a
// quota is used up, and after a 429 as long as the server says. The zero value is ready for use.
//
// The deadline of the request's context, also that of http.Client.Timeout, wins: a wait that does not fit is not begun. Then the
// 429 is the result, or a *HeldError if the request was not sent.
//
// A request is sent again only if its body can be read again (GetBody, which http.NewRequest sets for bytes and strings), and
// after a 503 only if its method is idempotent or it has an Idempotency-Key.
type Transport struct {
	// Base sends. nil is http.DefaultTransport.
	Base http.RoundTripper
	// Throttle is what is known of the servers. Share one to share that. nil is one of the transport's own.
	Throttle *Throttle
	// Resource names what has a quota of its own. nil is HostAndPath.
	Resource func(*http.Request) string

	once sync.Once
	own  *Throttle
}

// HostAndPath is the resource of a request, without the query.
func HostAndPath(request *http.Request) string { return request.URL.Host + request.URL.Path }

// Host is for servers with one quota for everything.
func Host(request *http.Request) string { return request.URL.Host }

type adviceKey struct{}

// AdviceOf is the advice that a Transport followed last for a response.
func AdviceOf(response *http.Response) (Advice, bool) {
	if response == nil || response.Request == nil {
		return Advice{}, false
	}
	advice, ok := response.Request.Context().Value(adviceKey{}).(Advice)
	return advice, ok
}

// Known is the transport's throttle: its Holdings say what waits.
func (t *Transport) Known() *Throttle {
	if t.Throttle != nil {
		return t.Throttle
	}
	t.once.Do(func() { t.own = New(DefaultPolicy()) })
	return t.own
}

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(request *http.Request) (*http.Response, error) {
	base, resource := t.Base, t.Resource
	if base == nil {
		base = http.DefaultTransport
	}
	if resource == nil {
		resource = HostAndPath
	}
	ctx := request.Context()
	sending := t.Known().Start(Host(request), resource(request))
	defer sending.Failed()
	for sent := request; ; {
		if err := sending.Before(ctx); err != nil {
			if sent.Body != nil {
				sent.Body.Close()
			}
			return nil, err
		}
		response, err := base.RoundTrip(sent)
		if err != nil {
			return nil, err
		}
		key := request.Header.Get("Idempotency-Key") != ""
		advice := sending.After(ctx, Response{response.StatusCode, response.Header, peek(response)}, request.Method, key)
		again := advice.Action == Wait && (request.Body == nil || request.Body == http.NoBody || request.GetBody != nil)
		if !again {
			response.Request = request.WithContext(context.WithValue(ctx, adviceKey{}, advice))
			return response, nil
		}
		io.CopyN(io.Discard, response.Body, mostPeeked) // So that the connection is reused.
		response.Body.Close()
		if err := sending.Wait(ctx, advice); err != nil {
			return nil, err
		}
		if sent, err = renewed(request); err != nil {
			return nil, err
		}
	}
}

// renewed is the request with a body that has not been read.
func renewed(request *http.Request) (*http.Request, error) {
	again := request.Clone(request.Context())
	if request.GetBody == nil {
		return again, nil
	}
	body, err := request.GetBody()
	again.Body = body
	return again, err
}

const mostPeeked = 64 << 10

// peek reads the beginning of a body that may say something about a limit. The body can still be read from its beginning.
func peek(response *http.Response) []byte {
	if response.StatusCode != http.StatusForbidden && response.StatusCode != http.StatusTooManyRequests {
		return nil
	}
	rest := response.Body
	body, err := io.ReadAll(io.LimitReader(rest, mostPeeked))
	after := io.Reader(rest)
	if err != nil {
		after = failing{err}
	}
	response.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(body), after), rest}
	return body
}

// failing gives the error that ended a body, to a reader that comes so far.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

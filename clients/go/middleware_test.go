package sluice

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"sluice.example/sluice/internal/testdaemon"
)

func through(t *testing.T, handler http.Handler, path string) *httptest.ResponseRecorder {
	t.Helper()
	recorder := httptest.NewRecorder()
	request := httptest.NewRequest("GET", path, nil)
	request.RemoteAddr = "10.1.2.3:4567"
	handler.ServeHTTP(recorder, request)
	return recorder
}

func TestMiddlewareAllowsAndDenies(t *testing.T) {
	c, _ := withDaemon(t)
	handler := Middleware(c, MiddlewareConfig{})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, FromContext(r.Context()).Why())
	}))
	for left := 1; left >= 0; left-- {
		got := through(t, handler, "/page")
		same(t, []any{got.Code, got.Body.String(), got.Header().Get("X-RateLimit-Remaining")}, []any{200, "allowed by pages", fmt.Sprint(left)})
	}
	got := through(t, handler, "/page")
	same(t, []any{got.Code, got.Header().Get("Content-Type"), got.Header().Get("Content-Length")},
		[]any{429, "application/problem+json", fmt.Sprint(got.Body.Len())})
	if got.Header().Get("Retry-After") == "" || got.Header().Get("RateLimit") == "" {
		t.Error(got.Header())
	}
	var problem map[string]any
	if err := json.Unmarshal(got.Body.Bytes(), &problem); err != nil {
		t.Error(err)
	}
	same(t, problem, map[string]any{"type": "about:blank", "title": "Too Many Requests", "status": 429.0, "reason": "quota_exceeded"})
}

func TestMiddlewareLetsARequestWithoutAttributesPass(t *testing.T) {
	c, _ := withDaemon(t)
	none := func(*http.Request) Attributes { return nil }
	handler := Middleware(c, MiddlewareConfig{Attributes: none})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if FromContext(r.Context()) != nil {
			t.Error("there is a decision")
		}
	}))
	for i := 0; i < 4; i++ {
		same(t, through(t, handler, "/page").Code, 200)
	}
}

func TestMiddlewareHoldsASlotUntilTheHandlerReturns(t *testing.T) {
	c, _ := withDaemon(t)
	jobs := MiddlewareConfig{Attributes: func(*http.Request) Attributes { return at("/jobs") }}
	handler := Middleware(c, jobs)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		same(t, must(c.Status(r.Context(), at("/jobs")))(t).Remaining, int64(0))
		if r.URL.Path == "/panic" {
			panic(http.ErrAbortHandler)
		}
	}))
	for i := 0; i < 2; i++ {
		same(t, through(t, handler, "/").Code, 200)
		func() {
			defer func() { _ = recover() }()
			through(t, handler, "/panic")
		}()
	}
	same(t, must(c.Status(background, at("/jobs")))(t).Remaining, int64(1))
}

func TestAWrongCallDoesNotBreakTheService(t *testing.T) {
	daemon := testdaemon.Start(t, testdaemon.Rules)
	var lines atomic.Int32
	logf := func(format string, arguments ...any) {
		lines.Add(1)
		if text := fmt.Sprintf(format, arguments...); !strings.Contains(text, "ip") || !strings.Contains(text, "400") {
			t.Error(text)
		}
	}
	for _, one := range []struct {
		fail   FailMode
		status int
	}{{FailOpen, 200}, {FailClosed, 503}} {
		lines.Store(0)
		c := newClient(t, Config{URL: daemon.URL, Logf: logf, Fail: one.fail})
		nobody := MiddlewareConfig{Attributes: func(*http.Request) Attributes { return Attributes{"ip": "nobody", "endpoint": "/page"} }}
		handler := Middleware(c, nobody)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		for i := 0; i < 3; i++ {
			same(t, through(t, handler, "/page").Code, one.status)
		}
		same(t, lines.Load(), int32(1))
	}
}

func TestMiddlewareAnswersByAFunction(t *testing.T) {
	c, _ := withDaemon(t)
	config := MiddlewareConfig{
		Options: []CheckOption{Cost(3)},
		Denied: func(w http.ResponseWriter, _ *http.Request, d *Decision) {
			http.Error(w, d.Reason(), http.StatusTeapot)
		},
	}
	got := through(t, Middleware(c, config)(http.NotFoundHandler()), "/page")
	same(t, []any{got.Code, got.Body.String()}, []any{http.StatusTeapot, "cost_exceeds_capacity\n"})
}

func TestRequestAttributes(t *testing.T) {
	request := httptest.NewRequest("POST", "/x?y", nil)
	for address, ip := range map[string]any{
		"10.0.0.1:1": "10.0.0.1", "[::ffff:10.0.0.1]:1": "10.0.0.1", "[fe80::1%eth0]:1": "fe80::1", "@": nil, "": nil,
	} {
		request.RemoteAddr = address
		want := Attributes{"method": "POST", "endpoint": "/x"}
		if ip != nil {
			want["ip"] = ip
		}
		same(t, RequestAttributes(request), want)
	}
}

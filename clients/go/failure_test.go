package sluice

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice.example/sluice/internal/testdaemon"
)

// scripted answers requests by a script, to try what no daemon does. "" closes the connection; silence answers nothing.
type scripted struct {
	url         string
	listener    net.Listener
	script      func(number int) string
	mutex       sync.Mutex
	keys        []string // The idempotency key of each request.
	connections []net.Conn
}

const silence = "silence"

func httpAnswer(status int, body string, fields ...string) string {
	lines := append([]string{fmt.Sprintf("HTTP/1.1 %d X", status), fmt.Sprintf("Content-Length: %d", len(body))}, fields...)
	return strings.Join(lines, "\r\n") + "\r\n\r\n" + body
}

const allowedBody = `{"allowed": true, "remaining": 1, "reset_at": 1, "limits": []}`

func newScripted(t testing.TB, script func(number int) string) *scripted {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &scripted{url: "http://" + listener.Addr().String(), listener: listener, script: script}
	t.Cleanup(func() {
		listener.Close()
		s.closeConnections()
	})
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			s.mutex.Lock()
			s.connections = append(s.connections, connection)
			s.mutex.Unlock()
			go s.serve(connection)
		}
	}()
	return s
}

func (s *scripted) serve(connection net.Conn) {
	defer connection.Close()
	for reader := bufio.NewReader(connection); ; {
		request, err := http.ReadRequest(reader)
		if err != nil {
			return
		}
		if _, err := reader.Discard(int(request.ContentLength)); err != nil {
			return
		}
		s.mutex.Lock()
		s.keys = append(s.keys, request.Header.Get("Idempotency-Key"))
		number := len(s.keys)
		s.mutex.Unlock()
		switch reply := s.script(number); reply {
		case silence:
		case "":
			return
		default:
			fmt.Fprint(connection, reply)
		}
	}
}

func (s *scripted) closeConnections() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, connection := range s.connections {
		connection.Close()
	}
}

func (s *scripted) requests() int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return len(s.keys)
}

func always(reply string) func(int) string { return func(int) string { return reply } }

func secondOf(first string) func(int) string {
	return func(number int) string {
		if number%2 == 0 {
			return httpAnswer(200, allowedBody)
		}
		return first
	}
}

func TestNobodyListens(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + listener.Addr().String()
	listener.Close()
	d := must(newClient(t, Config{URL: url}).Check(background, nil))(t)
	same(t, []any{d.Allowed, d.Degraded, d.Status, d.Reason()}, []any{true, true, 200, ""})
	if !strings.HasPrefix(d.Why(), "allowed without Sluice: ") {
		t.Error(d)
	}
	c := newClient(t, Config{URL: url, Fail: FailClosed})
	d = must(c.Check(background, nil))(t)
	same(t, []any{d.Allowed, d.Degraded, d.Status, d.Reason()}, []any{false, true, 503, "sluice_unavailable"})
	header := http.Header{}
	d.CopyHeader(header)
	if d.RetryAfter < time.Second || len(header) != 1 || header.Get("Retry-After") == "" {
		t.Error(d.RetryAfter, header)
	}
	many := must(c.CheckMany(background, make([]Check, 2)))(t)
	same(t, []bool{many[0].Degraded, many[1].Degraded}, []bool{true, true})
	var unavailable *UnavailableError
	if _, err := c.Status(background, nil); !errors.As(err, &unavailable) || errors.Unwrap(err) == nil {
		t.Error(err)
	}
}

func TestAServerThatNeverAnswersCostsTheTimeout(t *testing.T) {
	s := newScripted(t, always(silence))
	c := newClient(t, Config{URL: s.url, Timeout: 50 * time.Millisecond, Retries: NoRetries})
	same(t, must(c.Check(background, nil))(t).Why(), "allowed without Sluice: timed out")
	same(t, must(c.Check(background, nil, Timeout(time.Millisecond)))(t).Why(), "allowed without Sluice: timed out")
}

func TestTheContextWins(t *testing.T) {
	s := newScripted(t, always(silence))
	c := newClient(t, Config{URL: s.url, Fail: FailClosed, Breaker: NewBreaker(1, time.Hour)})
	ctx, cancel := context.WithTimeout(background, 20*time.Millisecond)
	defer cancel()
	d, err := c.Check(ctx, nil)
	if !errors.Is(err, context.DeadlineExceeded) || d.Allowed {
		t.Error(err, d)
	}
	ctx, cancel = context.WithCancel(background)
	go func() {
		testdaemon.Until(t, func() bool { return s.requests() == 2 })
		cancel()
	}()
	if _, err = c.Check(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	same(t, c.breaker.Open(), false) // The callers' ends say nothing about Sluice.
	same(t, len(c.pool.idle), 0)     // Their answers may still come, and would be read as the next ones.
}

func TestARetryHasTheSameKey(t *testing.T) {
	for _, first := range []string{"", silence} { // A lost answer leaves time for a retry.
		s := newScripted(t, secondOf(first))
		timeout := patient
		if first == silence {
			timeout = 8 * time.Second
		}
		same(t, must(newClient(t, Config{URL: s.url, Timeout: timeout}).Check(background, nil))(t).Degraded, false)
		if len(s.keys) != 2 || s.keys[0] != s.keys[1] || len(s.keys[0]) != 32 {
			t.Error(s.keys)
		}
	}
}

func TestWithoutRetriesThereIsNoKey(t *testing.T) {
	s := newScripted(t, always(httpAnswer(200, allowedBody)))
	must(newClient(t, Config{URL: s.url, Retries: NoRetries}).Check(background, nil))(t)
	same(t, s.keys, []string{""})
}

func TestABatchIsSentOnce(t *testing.T) {
	s := newScripted(t, always(""))
	same(t, must(newClient(t, Config{URL: s.url}).CheckMany(background, make([]Check, 1)))(t)[0].Degraded, true)
	same(t, s.requests(), 1)
}

func TestAKeptConnectionThatTheServerClosed(t *testing.T) {
	s := newScripted(t, always(httpAnswer(200, allowedBody)))
	c := newClient(t, Config{URL: s.url, Retries: NoRetries})
	same(t, must(c.Check(background, nil))(t).Degraded, false)
	s.closeConnections()
	testdaemon.Until(t, func() bool { return !isOpen(c.pool.idle[0].Conn) })
	same(t, must(c.Check(background, nil))(t).Degraded, false)
	same(t, len(s.connections), 2)
	c.pool.idle[0].SetDeadline(time.Now().Add(-time.Hour)) // As a call that ended long ago leaves it.
	same(t, must(c.Check(background, nil))(t).Degraded, false)
	same(t, len(s.connections), 2)
}

func TestAnswersOfSomethingElse(t *testing.T) {
	for _, reply := range []string{
		"SSH-2.0-OpenSSH\r\n\r\n", httpAnswer(502, "bad gateway"), httpAnswer(200, "<html>"), httpAnswer(200, "[]"), httpAnswer(200, "{}"),
		httpAnswer(503, `{"status": 503}`), httpAnswer(429, "slow down"), httpAnswer(500, "{}"),
		"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nz\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", "HTTP/1.1 2x0 OK\r\n\r\n",
		"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", mostHead+mostBody),
	} {
		s := newScripted(t, always(reply))
		if d := must(newClient(t, Config{URL: s.url, Retries: NoRetries}).Check(background, nil))(t); !d.Degraded {
			t.Errorf("%.50q decides", reply)
		}
	}
}

func TestOtherFramings(t *testing.T) {
	body := `{"allowed": true, "limits": []}`
	for _, one := range []struct {
		reply       string
		connections int
	}{
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n" + body[:5] + "\r\n" +
			fmt.Sprintf("%x;a=b\r\n", len(body[5:])) + body[5:] + "\r\n0\r\n\r\n", 1},
		{"HTTP/1.1 100 Continue\r\n\r\n" + httpAnswer(200, body), 1},
		{httpAnswer(200, body, "Connection: close"), 2},
		{"HTTP/1.0 200 OK\r\nContent-Length: " + fmt.Sprint(len(body)) + "\r\n\r\n" + body, 2},
	} {
		s := newScripted(t, always(one.reply))
		c := newClient(t, Config{URL: s.url, Retries: NoRetries})
		for i := 0; i < 2; i++ {
			same(t, must(c.Check(background, nil))(t).Degraded, false)
		}
		if len(s.connections) != one.connections {
			t.Errorf("%d connections and not %d: %q", len(s.connections), one.connections, one.reply)
		}
	}
}

func TestTLS(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret" {
			w.WriteHeader(401)
		}
		fmt.Fprint(w, allowedBody)
	}))
	defer server.Close()
	trusting := server.Client().Transport.(*http.Transport).TLSClientConfig
	c := newClient(t, Config{URL: server.URL, TLS: trusting, Token: "secret"})
	for i := 0; i < 2; i++ {
		d := must(c.Check(background, nil))(t)
		same(t, []any{d.Degraded, d.Status}, []any{false, 200})
	}
	same(t, len(c.pool.idle), 1)
	same(t, must(newClient(t, Config{URL: server.URL}).Check(background, nil))(t).Degraded, true) // An unknown certificate.
}

func TestTheBreakerOpensTriesAndCloses(t *testing.T) {
	var silent, lines sync.Map
	silent.Store(true, true)
	s := newScripted(t, func(int) string {
		if _, ok := silent.Load(true); ok {
			return ""
		}
		return httpAnswer(200, allowedBody)
	})
	fake := &noSleep{now: time.Now()}
	breaker := NewBreaker(3, time.Second)
	breaker.clock = fake
	logf := func(format string, arguments ...any) { lines.Store(fmt.Sprintf(format, arguments...), true) }
	c := newClient(t, Config{URL: s.url, Retries: NoRetries, Breaker: breaker, Logf: logf})
	degraded := func() bool { return must(c.Check(background, nil))(t).Degraded }
	for i := 0; i < 10; i++ {
		same(t, degraded(), true)
	}
	same(t, s.requests(), 3) // The other seven were decided at once.
	fake.now = fake.now.Add(999 * time.Millisecond)
	degraded()
	same(t, s.requests(), 3)
	fake.now = fake.now.Add(2 * time.Millisecond)
	degraded()
	degraded()
	same(t, s.requests(), 4) // One tries.
	silent.Delete(true)
	fake.now = fake.now.Add(1001 * time.Millisecond)
	same(t, []bool{degraded(), degraded(), breaker.Open()}, []bool{false, false, false})
	count := 0
	lines.Range(func(any, any) bool { count++; return true })
	same(t, count, 2) // It opened, and it closed.
}

func TestTheNextTryIsExtendedAtRandom(t *testing.T) {
	breaker := NewBreaker(1, 2*time.Second)
	breaker.clock = &noSleep{now: time.Now(), chance: 1}
	same(t, []any{breaker.failed(), breaker.failed(), breaker.Open(), breaker.retryIn()}, []any{true, false, true, 3 * time.Second})
	breaker.clock = &noSleep{now: time.Now().Add(time.Hour)}
	same(t, []bool{breaker.allows(), breaker.allows()}, []bool{true, false}) // One tries; until it is back, the others go on without.
}

func TestADaemonThatStopsAndComesBack(t *testing.T) {
	daemon := testdaemon.Start(t, testdaemon.Rules)
	c := newClient(t, Config{URL: daemon.URL, Timeout: 200 * time.Millisecond, Breaker: NewBreaker(2, 20*time.Millisecond)})
	degraded := func() bool { return must(c.Check(background, at("/api")))(t).Degraded }
	same(t, must(c.Check(background, at("/api"), Timeout(patient)))(t).Remaining, int64(2))
	daemon.Pause() // Connections stay open, without an answer.
	testdaemon.Until(t, func() bool { return degraded() && c.breaker.Open() })
	daemon.Resume()
	testdaemon.Until(t, func() bool { return !degraded() })
	daemon.Stop()
	same(t, degraded(), true)
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	testdaemon.Until(t, func() bool { return !degraded() })
}

func TestAUnixSocket(t *testing.T) {
	path := t.TempDir() + "/socket"
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(path)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, allowedBody) })}
	go server.Serve(listener)
	defer server.Close()
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}
	same(t, must(newClient(t, Config{Dial: dial}).Check(background, nil))(t).Degraded, false)
}

package throttle

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

type answer struct {
	status int
	header http.Header
	body   string
}

var (
	slowDown = answer{429, header("Retry-After", "20"), "no"}
	last     = answer{200, header("RateLimit", `"x";r=0;t=30`), "last"}
	anHour   = answer{429, header("Retry-After", "3600"), "no"}
	fine     = answer{200, nil, "ok"}
)

// api answers by a script, the last answer for ever, and keeps the bodies of what it was sent.
type api struct {
	*httptest.Server
	mutex  sync.Mutex
	bodies []string
}

func newAPI(t *testing.T, script ...answer) *api {
	a := &api{}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		a.mutex.Lock()
		n := len(a.bodies)
		a.bodies = append(a.bodies, string(body))
		a.mutex.Unlock()
		if n >= len(script) {
			n = len(script) - 1
		}
		for name, values := range script[n].header {
			w.Header()[name] = values
		}
		w.WriteHeader(script[n].status)
		io.WriteString(w, script[n].body)
	}))
	t.Cleanup(a.Close)
	return a
}

type result struct {
	status int
	body   string
	reason Reason
}

func roundTrip(t *testing.T, throttle *Throttle, request *http.Request) (result, error) {
	t.Helper()
	client := &http.Client{Transport: &Transport{Throttle: throttle}}
	response, err := client.Do(request)
	if err != nil {
		return result{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	advice, ok := AdviceOf(response)
	if !ok {
		t.Error("the response has no advice")
	}
	return result{response.StatusCode, string(body), advice.Reason}, nil
}

func get(t *testing.T, throttle *Throttle, url string) result {
	t.Helper()
	request, _ := http.NewRequest("GET", url, nil)
	got, err := roundTrip(t, throttle, request)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func post(t *testing.T, throttle *Throttle, url string, body io.Reader, key string) result {
	t.Helper()
	request, _ := http.NewRequest("POST", url, body)
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	got, err := roundTrip(t, throttle, request)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func same(t *testing.T, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestTransportSendsAgainAfterA429(t *testing.T) {
	throttle, fake := newFake(DefaultPolicy())
	a := newAPI(t, slowDown, fine)
	same(t, get(t, throttle, a.URL), result{200, "ok", ReasonOK})
	same(t, fake.slept, []time.Duration{20 * time.Second})
}

func TestTransportSendsABodyAgain(t *testing.T) {
	throttle, fake := newFake(DefaultPolicy())
	a := newAPI(t, slowDown, fine)
	same(t, post(t, throttle, a.URL, strings.NewReader("payload"), ""), result{200, "ok", ReasonOK})
	same(t, a.bodies, []string{"payload", "payload"})
	same(t, len(fake.slept), 1)
}

func TestTransportDoesNotSendAStreamAgain(t *testing.T) {
	throttle, fake := newFake(DefaultPolicy())
	a := newAPI(t, slowDown, fine)
	same(t, post(t, throttle, a.URL, io.MultiReader(strings.NewReader("payload")), ""), result{429, "no", ReasonServer})
	same(t, fake.slept, []time.Duration(nil))
	same(t, len(a.bodies), 1)
}

func TestTransportAndA503(t *testing.T) {
	busy := answer{503, header("Retry-After", "20"), "busy"}
	throttle, _ := newFake(DefaultPolicy())
	same(t, post(t, throttle, newAPI(t, busy, fine).URL, strings.NewReader("x"), ""), result{503, "busy", ReasonUnsafe})
	same(t, post(t, throttle, newAPI(t, busy, fine).URL, strings.NewReader("x"), "k"), result{200, "ok", ReasonOK})
	same(t, get(t, throttle, newAPI(t, busy, fine).URL), result{200, "ok", ReasonOK})
}

func TestTransportWaitsBeforeItSends(t *testing.T) {
	throttle, fake := newFake(DefaultPolicy())
	a := newAPI(t, last, fine)
	same(t, get(t, throttle, a.URL), result{200, "last", ReasonUsedUp})
	same(t, fake.slept, []time.Duration(nil))
	same(t, get(t, throttle, a.URL), result{200, "ok", ReasonOK})
	same(t, fake.slept, []time.Duration{30 * time.Second})
}

func TestTransportGivesAnHourBackAtOnce(t *testing.T) {
	throttle, fake := newFake(DefaultPolicy())
	a := newAPI(t, anHour)
	same(t, get(t, throttle, a.URL), result{429, "no", ReasonCap})
	request, _ := http.NewRequest("POST", a.URL, strings.NewReader("x"))
	var held *HeldError
	if _, err := roundTrip(t, throttle, request); !errors.As(err, &held) {
		t.Error(err)
	}
	same(t, fake.slept, []time.Duration(nil))
	same(t, len(a.bodies), 1)
}

func TestTransportEndsItsAttempts(t *testing.T) {
	throttle, fake := newFake(DefaultPolicy())
	a := newAPI(t, slowDown)
	same(t, get(t, throttle, a.URL), result{429, "no", ReasonAttempts})
	same(t, fake.slept, []time.Duration{20 * time.Second, 20 * time.Second, 20 * time.Second})
	same(t, len(a.bodies), 4)
}

func TestTransportKeepsTheDeadline(t *testing.T) {
	throttle := New(DefaultPolicy())
	a := newAPI(t, slowDown, fine)
	client := &http.Client{Transport: &Transport{Throttle: throttle}, Timeout: 15 * time.Second}
	response, err := client.Get(a.URL)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	advice, _ := AdviceOf(response)
	same(t, advice.Reason, ReasonDeadline)
	if _, err = client.Get(a.URL); err == nil || !strings.Contains(err.Error(), "longer than the deadline allows") {
		t.Error(err)
	}
}

func TestTransportEndsAWaitWithTheContext(t *testing.T) {
	throttle := New(DefaultPolicy())
	a := newAPI(t, slowDown)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	throttle.Logf = func(string, ...any) { cancel() } // It says that it is about to wait.
	request, _ := http.NewRequestWithContext(ctx, "GET", a.URL, nil)
	if _, err := roundTrip(t, throttle, request); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestTransportLeavesAFailureToTheCaller(t *testing.T) {
	throttle, _ := newFake(DefaultPolicy())
	a := newAPI(t, fine)
	a.Close()
	request, _ := http.NewRequest("GET", a.URL, nil)
	if _, err := roundTrip(t, throttle, request); err == nil {
		t.Error("no error")
	}
	own, _ := throttle.buckets.get(HostAndPath(request))
	same(t, own.inFlight, int64(0))
}

func TestTransportReadsABodyAndGivesAllOfIt(t *testing.T) {
	long := strings.Repeat("x", 3*mostPeeked)
	throttle, _ := newFake(DefaultPolicy())
	same(t, get(t, throttle, newAPI(t, answer{403, nil, long}).URL).body, long)
	quota := answer{429, header("Retry-After", "1"), `{"error": {"code": "insufficient_quota"}}`}
	same(t, get(t, throttle, newAPI(t, quota).URL).reason, ReasonNever)
}

func TestTransportWithoutParameters(t *testing.T) {
	transport := &Transport{Resource: Host}
	a := newAPI(t, answer{429, header("Retry-After", "3600"), ""})
	response, err := (&http.Client{Transport: transport}).Get(a.URL + "/x")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	held := transport.Known().Holdings()
	if len(held) != 1 || "http://"+held[0].Bucket != a.URL {
		t.Error(held)
	}
	if _, ok := AdviceOf(nil); ok {
		t.Error("advice of nothing")
	}
}

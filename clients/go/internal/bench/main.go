// Bench measures what a check costs in CPU, beside a socket that sends and receives the same bytes, and beside net/http.
//
//	SLUICE=build/dev/bin/sluice go run ./internal/bench [CHECKS]
//
// The times are those of this process alone (user and system), so the daemon's do not count. The best of seven rounds of each is shown.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"sluice.example/sluice"
	"sluice.example/sluice/internal/testdaemon"
)

const body = `{"attributes":{"endpoint":"/page","ip":"10.0.0.1","user_id":"u_42"},"cost":1}`

var (
	background = context.Background()
	user       = sluice.Attributes{"user_id": "u_42", "endpoint": "/page", "ip": "10.0.0.1"}
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func cpu() time.Duration {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

type work struct {
	name  string
	each  int // Checks in one call.
	floor bool
	call  func()
	best  time.Duration
}

// measure does some calls of each in turn, so that a busy moment of the machine does not hit one of them alone.
func measure(works []work, count int) {
	for round := 0; round < 7; round++ {
		for i := range works {
			before := cpu()
			for n := 0; n < count; n += works[i].each {
				works[i].call()
			}
			if took := cpu() - before; round == 0 || took < works[i].best {
				works[i].best = took
			}
		}
	}
}

func client(url string, retries int) *sluice.Client {
	c, err := sluice.New(sluice.Config{URL: url, Retries: retries, Timeout: 20 * time.Second})
	check(err)
	return c
}

func decide(c *sluice.Client, ctx context.Context) func() {
	return func() {
		decision, err := c.Check(ctx, user)
		check(err)
		if decision.Degraded {
			log.Fatal(decision)
		}
	}
}

func main() {
	count := 5000
	if len(os.Args) > 1 {
		var err error
		count, err = strconv.Atoi(os.Args[1])
		check(err)
	}
	folder, err := os.MkdirTemp("", "sluice")
	check(err)
	defer os.RemoveAll(folder)
	daemon, err := testdaemon.StartIn(folder, testdaemon.Rules)
	check(err)
	defer daemon.Stop()

	bare, err := net.Dial("tcp", strings.TrimPrefix(daemon.URL, "http://"))
	check(err)
	request := []byte("POST /v1/ratelimit/check HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: " +
		strconv.Itoa(len(body)) + "\r\n\r\n" + body)
	into := make([]byte, 65536)
	over := func(response *http.Response, err error) {
		check(err)
		_, err = io.Copy(io.Discard, response.Body)
		check(err)
		response.Body.Close()
	}
	cancellable, cancel := context.WithCancel(background)
	defer cancel()
	quick, keyed := client(daemon.URL, sluice.NoRetries), client(daemon.URL, 1)
	var batch []sluice.Check
	for len(batch) < 100 {
		batch = append(batch, sluice.NewCheck(user))
	}
	works := []work{
		{name: "the same bytes over a net.Conn", each: 1, floor: true, call: func() {
			_, err := bare.Write(request)
			check(err)
			_, err = bare.Read(into)
			check(err)
		}},
		{name: "net/http: GET of a fixed answer", each: 1, call: func() { over(http.Get(daemon.URL + "/healthz")) }},
		{name: "net/http: POST of the same check, not decoded", each: 1, call: func() {
			over(http.Post(daemon.URL+"/v1/ratelimit/check", "application/json", strings.NewReader(body)))
		}},
		{name: "Client.Check", each: 1, call: decide(quick, background)},
		{name: "Client.Check, a context that can be cancelled", each: 1, call: decide(quick, cancellable)},
		{name: "Client.Check with an idempotency key", each: 1, call: decide(keyed, background)},
		{name: "Client.CheckMany, 100 at once", each: 100, call: func() {
			_, err := quick.CheckMany(background, batch)
			check(err)
		}},
	}
	measure(works, count)
	floor := 0.0
	for _, one := range works {
		cost := float64(one.best.Nanoseconds()) / 1000 / float64(count)
		if one.floor {
			floor = cost
		}
		fmt.Printf("%-48s %6.1f µs a check, beyond the bytes alone %6.1f µs\n", one.name, cost, cost-floor)
	}
}

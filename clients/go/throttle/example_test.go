package throttle_test

import (
	"fmt"
	"net/http"
	"time"

	"sluice.example/sluice/throttle"
)

func ExampleAdvise() {
	response := throttle.Response{Status: 429, Header: http.Header{"Retry-After": {"12"}}}
	call := throttle.Call{Now: time.Now(), Attempt: 1, Deadline: time.Now().Add(30 * time.Second)}
	advice := throttle.Advise(response, call, throttle.DefaultPolicy())
	fmt.Println(advice.Action, advice.Earliest, advice.Latest, advice.Reason)
	// Output: wait 12s 14.4s server
}

func ExampleTransport() {
	policy := throttle.DefaultPolicy()
	policy.Headroom = 5 // Units of each quota that are left to others.
	shared := throttle.New(policy)
	client := &http.Client{Transport: &throttle.Transport{Throttle: shared}, Timeout: 30 * time.Second}
	response, err := client.Get("https://api.example.com/things")
	if err != nil {
		fmt.Println(err) // *throttle.HeldError: not sent, because the quota is used up for longer than 30 s.
		return
	}
	defer response.Body.Close()
	for _, holding := range shared.Holdings() {
		fmt.Println(holding.Bucket, "is held for", holding.For, "because", holding.Why)
	}
}

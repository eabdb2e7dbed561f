package sluice_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"sluice.example/sluice"
)

func ExampleClient_Check() {
	client, err := sluice.New(sluice.Config{URL: "http://127.0.0.1:8080"})
	if err != nil {
		panic(err)
	}
	decision, err := client.Check(context.Background(), sluice.Attributes{"user_id": "u_42", "endpoint": "/charges"})
	if err != nil {
		fmt.Println("the program is wrong, or the caller has gone:", err)
	}
	if !decision.Allowed {
		fmt.Println("not now:", decision.Why())
	}
}

func ExampleClient_Reserve() {
	client, _ := sluice.New(sluice.Config{})
	reservation, err := client.Reserve(context.Background(), sluice.Attributes{"user_id": "u_42", "endpoint": "/llm"}, 500)
	if err != nil {
		return
	}
	defer reservation.Close() // Settles at 312. Without SetCost, the 500 stay charged.
	reservation.SetCost(312)
}

func ExampleClient_Hold() {
	client, _ := sluice.New(sluice.Config{})
	hold, err := client.Hold(context.Background(), sluice.Attributes{"tenant": "t_1", "endpoint": "/jobs"})
	var denied *sluice.DeniedError
	if errors.As(err, &denied) {
		fmt.Println("all slots are taken:", denied.Decision.Why())
		return
	}
	if err != nil {
		return
	}
	defer hold.Release()
	for page := 0; page < 3; page++ {
		select {
		case <-hold.Lost():
			return // Others may have the slot now.
		default:
		}
	}
}

func ExampleMiddleware() {
	client, _ := sluice.New(sluice.Config{Fail: sluice.FailOpen})
	limited := sluice.Middleware(client, sluice.MiddlewareConfig{
		Attributes: func(r *http.Request) sluice.Attributes {
			user := r.Header.Get("X-Verified-User")
			if user == "" {
				return nil // Not limited.
			}
			return sluice.Attributes{"user_id": user, "endpoint": "/charges"}
		},
	})
	http.Handle("/charges", limited(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, sluice.FromContext(r.Context()).Remaining)
	})))
}

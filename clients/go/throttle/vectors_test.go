package throttle

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"
)

type vector struct {
	Name, Why string
	Response  struct {
		Status int
		Fields [][2]string
		Body   *string
	}
	Call struct {
		NowMs          int64  `json:"now_ms"`
		Method         string `json:"method"`
		IdempotencyKey bool   `json:"idempotency_key"`
		Attempt        int    `json:"attempt"`
		MaxAttempts    int    `json:"max_attempts"`
		DeadlineMs     *int64 `json:"deadline_ms"`
		CapMs          int64  `json:"cap_ms"`
		BaseMs         int64  `json:"base_ms"`
		JitterPercent  int    `json:"jitter_percent"`
		Headroom       int64  `json:"headroom"`
	}
	Expect expected
}

type expected struct {
	Action Action   `json:"action"`
	Reason Reason   `json:"reason"`
	Source *string  `json:"source"`
	WaitMs *[]int64 `json:"wait_ms"`
	HoldMs int64    `json:"hold_ms"`
	Bucket *string  `json:"bucket"`
	Global bool     `json:"global"`
}

func TestEveryVector(t *testing.T) {
	files, _ := filepath.Glob("../../vectors/*.json")
	if len(files) == 0 {
		t.Skip("clients/vectors is not beside this module: it is not in the module's archive")
	}
	count := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var vectors struct{ Cases []vector }
		if err := json.Unmarshal(text, &vectors); err != nil {
			t.Fatal(file, err)
		}
		for _, v := range vectors.Cases {
			count++
			t.Run(filepath.Base(file)+"/"+v.Name, func(t *testing.T) { play(t, v) })
		}
	}
	if count < 251 {
		t.Errorf("%d cases were played, and there are 251 or more", count)
	}
}

func play(t *testing.T, v vector) {
	header := http.Header{}
	for _, field := range v.Response.Fields {
		header.Add(field[0], field[1])
	}
	var body []byte
	if v.Response.Body != nil {
		body = []byte(*v.Response.Body)
	}
	ms := func(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }
	call := Call{Now: time.UnixMilli(v.Call.NowMs), Method: v.Call.Method, IdempotencyKey: v.Call.IdempotencyKey, Attempt: v.Call.Attempt}
	if v.Call.DeadlineMs != nil {
		call.Deadline = call.Now.Add(ms(*v.Call.DeadlineMs))
	}
	advice := Advise(Response{v.Response.Status, header, body}, call, Policy{
		MaxAttempts: v.Call.MaxAttempts, Cap: ms(v.Call.CapMs), Base: ms(v.Call.BaseMs),
		Jitter: float64(v.Call.JitterPercent) / 100, Headroom: v.Call.Headroom,
	})
	got := expected{Action: advice.Action, Reason: advice.Reason, HoldMs: advice.Hold.Milliseconds(), Global: advice.Everywhere}
	if advice.Source != "" {
		got.Source = &advice.Source
	}
	if advice.Bucket != "" {
		got.Bucket = &advice.Bucket
	}
	if advice.Action == Wait {
		got.WaitMs = &[]int64{advice.After(0).Milliseconds(), advice.After(1).Milliseconds()}
	}
	want, _ := json.Marshal(v.Expect)
	have, _ := json.Marshal(got)
	if string(want) != string(have) {
		t.Errorf("%s\nwant %s\ngot  %s", v.Why, want, have)
	}
	if advice.String() == "" {
		t.Error("no explanation")
	}
}

package conformance_test

import (
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// service is a service under test, wherever it runs.
type service struct {
	url string
	operator
	start func(t *testing.T, s settings) *service // another one of the same kind
	log   func() string                           // what it has logged up to now, a JSON object a line
}

// operator is what the operator of a service does.
type operator interface {
	createUser(t *testing.T, name string)
	setAccountType(t *testing.T, user, accountType string)
	disableUser(t *testing.T, user string)

	createKey(t *testing.T, user string, lifetime time.Duration) (raw string) // lifetime 0: it does not expire
	revokeKey(t *testing.T, user, raw string)

	grant(t *testing.T, user string, credits int, lifetime time.Duration) // lifetime 0: they do not expire
}

// settings are how a service departs from its defaults.
type settings struct {
	baseURL        string
	trustedProxy   string
	corsOrigin     string
	models         string // the content of models.yaml
	policy         string
	concurrency    int
	maxQueued      int
	slotWait       time.Duration
	attemptTimeout time.Duration
}

// flags are the settings as the daemon takes them, but for the models.
func (s settings) flags() (flags []string) {
	add := func(name, value string) {
		if value != "" && value != "0" && value != "0s" {
			flags = append(flags, "--"+name, value)
		}
	}
	add("base-url", s.baseURL)
	add("trusted-proxy", s.trustedProxy)
	add("cors-origin", s.corsOrigin)
	add("policy", s.policy)
	add("concurrency", strconv.Itoa(s.concurrency))
	add("max-queued", strconv.Itoa(s.maxQueued))
	add("slot-wait", s.slotWait.String())
	add("attempt-timeout", s.attemptTimeout.String())
	return flags
}

// customer is a user of a service, with a key.
type customer struct {
	*service
	user, key string
}

var accounts atomic.Int64

// account makes a user with so many credits, and a key.
func (s *service) account(t *testing.T, credits int) *customer {
	t.Helper()
	a := &customer{service: s, user: fmt.Sprintf("account-%d", accounts.Add(1))}
	s.createUser(t, a.user)
	if credits > 0 {
		s.grant(t, a.user, credits, 0)
	}
	a.key = s.createKey(t, a.user, 0)
	return a
}

// credits is the balance of the account.
func (a *customer) credits(t *testing.T) any {
	t.Helper()
	return a.get(t, "/api/v1/credits").object(t)["balance"].(object)["credits"]
}

// get asks with the account's key.
func (a *customer) get(t *testing.T, address string, header ...string) answer {
	t.Helper()
	return a.call(t, request{address: address, key: a.key, header: header})
}

// post sends fields for images as JSON.
func (a *customer) post(t *testing.T, fields object, header ...string) answer {
	t.Helper()
	return a.call(t, request{method: http.MethodPost, address: generationsPath, key: a.key, body: encode(t, fields),
		header: append([]string{"Content-Type", "application/json"}, header...)})
}

const generationsPath = "/api/v1/images/generations"

// fox is a request for images with some fields in place of the ordinary ones.
func fox(fields object) object {
	q := object{"model": "fake-1", "prompt": "a fox", "size": "64x48"}
	for name, value := range fields {
		q[name] = value
	}
	return q
}

// generated sends a synchronous request that succeeds and returns the generation.
func (a *customer) generated(t *testing.T, fields object, header ...string) object {
	t.Helper()
	return a.post(t, fox(fields), header...).is(t, http.StatusOK).object(t)
}

// queued sends an asynchronous request that is accepted and returns the generation.
func (a *customer) queued(t *testing.T, fields object, header ...string) object {
	t.Helper()
	q := fox(fields)
	q["async"] = true
	return a.post(t, q, header...).is(t, http.StatusAccepted).object(t)
}

// generation reads a generation.
func (a *customer) generation(t *testing.T, id any) object {
	t.Helper()
	return a.get(t, "/api/v1/generations/"+id.(string)).is(t, http.StatusOK).object(t)
}

// reaches waits until a generation has one of some statuses, and returns it.
func (a *customer) reaches(t *testing.T, id any, statuses ...string) (g object) {
	t.Helper()
	eventually(t, fmt.Sprintf("%s is %v", id, statuses), func() bool {
		g = a.generation(t, id)
		for _, status := range statuses {
			if g["status"] == status {
				return true
			}
		}
		return false
	})
	return g
}

// ended waits for the end of a generation.
func (a *customer) ended(t *testing.T, id any) object {
	t.Helper()
	return a.reaches(t, id, "succeeded", "failed")
}

// eventually polls until the condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	daemontest.Eventually(t, 30*time.Second, what, holds)
}

package conformance_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// memberChecks are of section 11: people behind a key.
var memberChecks = []check{
	{
		name: "people behind a key",
		lines: []string{
			"contract: | payer |",
			"contract: | what a member is |",
			"contract: | limits of a member |",
			"contract: | a key for others |",
			"contract: | made when |",
			"contract: | who may claim |",
		},
		daemon: checkPeople,
		elsewhere: []string{"imagegen/engine.TestOnBehalf", "imagegen/engine.TestNobodyNamed",
			"imagegen/engine.TestForgedPeople", "imagegen/engine.TestNewPeopleAtOnce",
			"imagegen/httpapi.TestPeopleBehindOneKey", "imagegen/httpapi.TestPersonHeaders",
			"imagegen/httpapi.TestUsageByMember", shapeTests + "TestClassBehindOpenWebUI",
			shapeTests + "TestForgedNamesBehindOpenWebUI", "imagegen/storage.TestTeam"},
	},
	{
		name:      "a sponsor",
		lines:     []string{"contract: | payer |", "contract: | commands for members |"},
		daemon:    checkSponsor,
		elsewhere: []string{"cmd/imagegend/internal/adminserver.TestMembers"},
	},
	{
		name:      "members refused alone",
		lines:     []string{"contract: | refused alone |"},
		daemon:    checkRefusedAlone,
		elsewhere: []string{"imagegen/engine.TestPersonRefusedAlone", "imagegen/engine.TestPersonDisabledMeanwhile"},
	},
	{
		name:      "a suspended sponsor",
		lines:     []string{"contract: | refused alone |"},
		daemon:    checkSuspendedSponsor,
		elsewhere: []string{"imagegen/storage.TestJoint"},
	},
	{
		name:      "shares of payers",
		lines:     []string{"contract: | shares |"},
		elsewhere: []string{"imagegen/storage.TestStore", "imagegen/storage.TestPayers"},
	},
	{
		name:      "a model for some",
		lines:     []string{"contract: | models for some |"},
		daemon:    checkModelForSome,
		elsewhere: []string{"imagegen/engine.TestModelForSome"},
	},
	{
		name:      "end users upstream",
		lines:     []string{"contract: | end users upstream |"},
		daemon:    checkEndUsers,
		elsewhere: []string{"imagegen/engine.TestEndUser", "imagegen/provider/internal/template.TestEndUser"},
	},
	{
		name:      "models in limits",
		lines:     []string{"contract: | models in limits |"},
		daemon:    checkModelsInLimits,
		elsewhere: []string{"imagegen/engine.TestLimitedToModels", "imagegen/storage.TestJoint"},
	},
}

// person is the header that names one.
func person(id string) []string { return []string{"X-OpenWebUI-User-Id", id} }

// school is a customer with 20 credits whose key is on behalf of three people, with two credits each.
func school(t *testing.T, d *daemontest.Daemon) *customer {
	t.Helper()
	command(t, d, "user", "create", "school", "--credits", "20").succeeds(t)
	raw := command(t, d, "key", "create", "--user", "school", "--on-behalf", "--limit", "total=2", "--members", "3").
		succeeds(t).stdout
	return &customer{service: serviceOf(d), user: "school", key: strings.TrimSpace(raw)}
}

func checkPeople(t *testing.T) {
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{})
	s := school(t, d)
	zoe, ann := person("zoe"), person("ann")

	// What a client asks for to set itself up is the owner's, and needs nobody.
	s.get(t, "/api/v1/models").is(t, http.StatusOK)
	s.get(t, "/v1/models").is(t, http.StatusOK)
	same(t, s.credits(t), 20)
	quote := request{method: http.MethodPost, address: "/api/v1/images/quote", key: s.key, body: encode(t, fox(nil)),
		header: []string{"Content-Type", "application/json"}}
	same(t, s.call(t, quote).is(t, http.StatusOK).object(t)["balance"].(object)["credits"], 20)
	// What makes or reads generations needs a person.
	for _, a := range []answer{s.post(t, fox(nil)), s.get(t, "/api/v1/generations"),
		s.get(t, "/api/v1/generations/gen_01KAJ1V5W8Z0M5QY7GJ7T9C2RE")} {
		a.refused(t, http.StatusBadRequest, "invalid_request", "X-OpenWebUI-User-Id")
	}
	// Who only reads, or is refused, is not written down.
	s.get(t, "/api/v1/generations", person("reader")...).is(t, http.StatusOK)
	s.post(t, fox(object{"model": "unknown"}), person("reader")...).refused(t, http.StatusBadRequest,
		"invalid_request", "unknown")
	is.Equal(len(listOf(t, command(t, d, "user", "members", "school", "--json").succeeds(t).stdout)), 0)

	of := map[string]any{"zoe": s.generated(t, nil, zoe...)["id"], "ann": s.generated(t, nil, ann...)["id"]}
	for name, id := range of {
		listed := s.get(t, "/api/v1/generations", person(name)...).is(t, http.StatusOK).object(t)["data"].([]any)
		is.Equal(len(listed), 1)
		same(t, listed[0].(object)["id"], id)
		for reader := range of {
			a := s.get(t, "/api/v1/generations/"+id.(string), person(reader)...)
			if reader == name {
				a.is(t, http.StatusOK)
			} else {
				a.refused(t, http.StatusNotFound, "notFound", "")
			}
		}
	}
	same(t, s.get(t, "/api/v1/credits", zoe...).object(t)["balance"].(object)["credits"], 1)

	s.post(t, fox(nil), "X-OpenWebUI-User-Id", "zoe", "X-OpenWebUI-User-Id", "ann").refused(t, http.StatusBadRequest,
		"invalid_request", "once")
	s.post(t, fox(object{"user": "ann"}), zoe...).refused(t, http.StatusBadRequest, "invalid_request", "user")
	s.post(t, fox(object{"user": strings.Repeat("x", 129)})).refused(t, http.StatusBadRequest, "invalid_request",
		"128 bytes")

	// The field names the person where no header does.
	shape := request{method: http.MethodPost, address: "/v1/images/generations", key: s.key,
		body:   encode(t, object{"prompt": "a fox", "size": "64x48", "user": "zoe"}),
		header: []string{"Content-Type", "application/json"}}
	s.call(t, shape).is(t, http.StatusOK)
	s.post(t, fox(nil), zoe...).refused(t, http.StatusPaymentRequired, "insufficientCredits",
		"your account is limited to 2 credits in all")
	s.generated(t, object{"user": "eve"})
	s.post(t, fox(nil), person("the fourth")...).refused(t, http.StatusForbidden, "chargeRefused", "3 members")

	// The sums of the members are what the school has paid.
	same(t, s.credits(t), 16)
	spent := 0
	var names []string
	for _, row := range listOf(t, command(t, d, "usage", "--user", "school", "--by", "member", "--json").
		succeeds(t).stdout) {
		names = append(names, row["member"].(string))
		spent += row["credits_spent"].(int)
	}
	slices.Sort(names)
	is.Equal(names, []string{"school/ann", "school/eve", "school/zoe"})
	is.Equal(spent, 4)
	for i, row := range s.get(t, "/api/v1/usage?group_by=member").is(t, http.StatusOK).object(t)["data"].([]any) {
		same(t, row.(object)["member"], names[i])
	}
	entries := listOf(t, command(t, d, "credit", "history", "--user", "school", "--limit", "1", "--json").
		succeeds(t).stdout)
	same(t, entries[0]["member"], "school/eve")
	of1 := listOf(t, command(t, d, "usage", "--user", "school", "--member", "school/zoe", "--by", "none", "--json").
		succeeds(t).stdout)
	same(t, of1[0]["credits_spent"], 2)
	// The trail has one row for the school, and one for each member.
	created := command(t, d, "trail", "--act", "user.create", "--json").succeeds(t).stdout
	is.Equal(strings.Count(created, "\n"), 4)
	command(t, d, "audit").succeeds(t)
}

func checkSponsor(t *testing.T) {
	d := daemontest.Start(t, daemontest.Options{})
	s := school(t, d)
	zoe := s.account(t, 0)
	zoe.post(t, fox(nil)).refused(t, http.StatusPaymentRequired, "insufficientCredits", "")
	command(t, d, "user", "sponsor", zoe.user, "--by", "school", "--limit", "total=1").succeeds(t)
	before := zoe.generated(t, nil)
	same(t, s.credits(t), 19)
	same(t, zoe.get(t, "/api/v1/credits").object(t)["balance"].(object)["next_expiration"], nil)
	zoe.post(t, fox(nil)).refused(t, http.StatusPaymentRequired, "insufficientCredits", "limited to 1")
	command(t, d, "user", "sponsor", zoe.user, "--by", "school").succeeds(t)
	during := zoe.queued(t, object{"prompt": "[fake:delay=4s] [fake:images=1] a fox", "n": 2})["id"]
	zoe.reaches(t, during, "processing")
	same(t, s.credits(t), 17)
	command(t, d, "credit", "grant", "--user", zoe.user, "5").fails(t, 1, "member")
	listed := listOf(t, command(t, d, "user", "members", "school", "--json").succeeds(t).stdout)
	same(t, listed[0]["name"], zoe.user)

	command(t, d, "key", "create", "--user", zoe.user, "--on-behalf").fails(t, 1, "has a sponsor")

	command(t, d, "user", "sponsor", zoe.user, "--none").succeeds(t)
	zoe.generation(t, before["id"])                               // it stays the member's
	same(t, zoe.ended(t, during)["usage"].(object)["credits"], 1) // and what comes back is who paid's
	same(t, s.credits(t), 18)
	zoe.post(t, fox(nil)).refused(t, http.StatusPaymentRequired, "insufficientCredits", "")
	command(t, d, "credit", "grant", "--user", zoe.user, "5").succeeds(t)
	command(t, d, "user", "sponsor", zoe.user, "--by", "school").fails(t, 1, "has credits")
	command(t, d, "user", "sponsor", zoe.user).fails(t, 2, "none")
	same(t, s.credits(t), 18)
}

func checkRefusedAlone(t *testing.T) {
	d := daemontest.Start(t, daemontest.Options{})
	s := school(t, d)
	for _, name := range []string{"zoe", "ann", "eve"} {
		s.generated(t, nil, person(name)...)
	}
	command(t, d, "user", "suspend", "school/zoe").succeeds(t)
	command(t, d, "user", "disable", "school/ann").succeeds(t)
	s.post(t, fox(nil), person("zoe")...).refused(t, http.StatusForbidden, "chargeRefused", "suspended")
	s.get(t, "/api/v1/generations", person("zoe")...).is(t, http.StatusOK)
	s.post(t, fox(nil), person("ann")...).refused(t, http.StatusForbidden, "chargeRefused", `"ann" is disabled`)
	s.get(t, "/api/v1/generations", person("ann")...).refused(t, http.StatusForbidden, "chargeRefused", "disabled")
	s.generated(t, nil, person("eve")...)
	command(t, d, "user", "sponsor", "school/eve", "--none").succeeds(t)
	s.post(t, fox(nil), person("eve")...).refused(t, http.StatusForbidden, "chargeRefused", "not a member")
	same(t, s.credits(t), 16)
}

func checkSuspendedSponsor(t *testing.T) {
	d := daemontest.Start(t, daemontest.Options{})
	s := school(t, d)
	made := s.generated(t, nil, person("zoe")...)
	command(t, d, "user", "suspend", "school").succeeds(t)
	for _, name := range []string{"zoe", "who never asked"} {
		s.post(t, fox(nil), person(name)...).refused(t, http.StatusForbidden, "chargeRefused", "suspended")
	}
	is.New(t).Equal(len(listOf(t, command(t, d, "user", "members", "school", "--json").succeeds(t).stdout)), 1)
	s.get(t, "/api/v1/generations/"+made["id"].(string), person("zoe")...).is(t, http.StatusOK)
	command(t, d, "user", "resume", "school").succeeds(t)
	s.generated(t, nil, person("zoe")...)
}

const modelForSome = `
models:
  - {id: fake-1, provider: {type: fake}, credits: {1K: 1}}
  - {id: school-1, provider: {type: fake}, credits: {1K: 1}, only_for: [PRO, EDU]}
`

func checkModelForSome(t *testing.T) {
	s := startDaemon(t, settings{models: modelForSome})
	a, edu := s.account(t, 5), s.account(t, 5)
	s.setAccountType(t, edu.user, "EDU")
	for _, address := range []string{"/api/v1/models", "/v1/models"} {
		same(t, a.models(t, address), []any{"fake-1"})
		same(t, edu.models(t, address), []any{"fake-1", "school-1"})
	}
	a.get(t, "/v1/models/school-1").is(t, http.StatusNotFound)
	a.post(t, fox(object{"model": "school-1"})).refused(t, http.StatusBadRequest, "invalid_request",
		`unknown model "school-1"`)
	edu.generated(t, object{"model": "school-1"})
}

// models lists the names of the models at an address.
func (a *customer) models(t *testing.T, address string) (names []any) {
	t.Helper()
	for _, m := range a.get(t, address).is(t, http.StatusOK).object(t)["data"].([]any) {
		names = append(names, m.(object)["id"])
	}
	return names
}

func checkModelsInLimits(t *testing.T) {
	s := startDaemon(t, settings{models: modelForSome})
	a := s.account(t, 5)
	s.setAccountType(t, a.user, "EDU")
	limited := *a
	limited.key = strings.TrimSpace(s.operator.(commands).run(t, "key", "create", "--user", a.user, "--limit",
		"day=2,model=school-1"))
	for _, address := range []string{"/api/v1/models", "/v1/models"} {
		for range 2 { // none gets what the other was answered
			same(t, a.models(t, address), []any{"fake-1", "school-1"})
			same(t, limited.models(t, address), []any{"school-1"})
		}
	}
	limited.post(t, fox(nil)).refused(t, http.StatusBadRequest, "invalid_request",
		`unknown model "fake-1"; offered: school-1`)
	limited.generated(t, object{"model": "school-1"})
	a.generated(t, nil)
}

func checkEndUsers(t *testing.T) {
	var mu sync.Mutex
	said := map[string]string{} // what stood for the end user, by prompt
	picture := base64.StdEncoding.EncodeToString(picture(1024, 1024))
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct{ Prompt, User string }
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		}
		mu.Lock()
		said[q.Prompt] = q.User
		mu.Unlock()
		json.NewEncoder(w).Encode(object{"data": []any{object{"b64_json": picture}}})
	}))
	t.Cleanup(upstream.Close)
	model := `credits: {1K: 1}, provider: {type: openai, private: true, sizes: [1024x1024], base_url: ` +
		upstream.URL + `/v1}}`
	models := settings{models: "models:\n  - {id: sends, send_user: true, " + model + "\n  - {id: silent, " + model}
	d := daemontest.Start(t, daemontest.Options{Args: []string{"--models", models.modelsFile(t)}})
	s := school(t, d)
	for prompt, name := range map[string]string{"first": "zoe", "other": "ann", "again": "zoe"} {
		s.generated(t, object{"model": "sends", "prompt": prompt, "size": "1024x1024"}, person(name)...)
	}
	s.generated(t, object{"model": "silent", "prompt": "silent", "size": "1024x1024"}, person("ann")...)
	mu.Lock()
	defer mu.Unlock()
	same(t, said["first"], pattern(`[0-9a-f]{32}`))
	same(t, said["other"], pattern(`[0-9a-f]{32}`))
	same(t, said["again"], said["first"])
	same(t, said["other"] != said["first"], true)
	same(t, said["silent"], "")
}

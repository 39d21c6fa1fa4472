package survival_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
	"github.com/imagegend/imagegend/imagegen/storage/s3/s3test"
)

// A hundred people behind one key ask three nodes at once, while an operator on one or another grants and revokes
// credits, changes limits, suspends, disables and removes: nobody uses more than they may, the sponsor is never
// overdrawn, and usage by member is what the journal says.
func TestMembersOfNodes(t *testing.T) {
	database, objects := postgrestest.Start(t), s3test.Start(t)
	o := daemontest.Options{Env: []string{"IMAGEGEND_DATABASE=" + database.Database(t),
		"IMAGEGEND_IMAGES=" + objects.Address()}}
	c := &crowdOfMembers{T: t, refused: map[string]int{}}
	for range 3 {
		c.nodes = append(c.nodes, daemontest.Start(t, o))
	}
	is := is.New(t)
	first, second := c.nodes[0], c.nodes[1]
	first.Admin("user", "create", "school", "--credits", "60")
	c.key = strings.TrimSpace(first.Admin("key", "create", "--user", "school", "--on-behalf", "--limit",
		"total=3,at-once=1", "--members", "100"))
	over := make(chan struct{})
	var asking sync.WaitGroup
	end := sync.OnceFunc(func() {
		close(over)
		asking.Wait()
	})
	defer end()
	for n := range 105 {
		for caller := range 2 {
			asking.Go(func() { c.keepAsking(n, rand.New(rand.NewPCG(uint64(n), uint64(caller))), over) })
		}
	}
	c.await("too few credits")
	first.Admin("credit", "grant", "--user", "school", "100")
	c.await("too few credits")
	second.Admin("credit", "grant", "--user", "school", "400") // more than all limits together
	first.Admin("credit", "revoke", "--user", "school", "50")
	c.await("admits no more")
	members := c.members()
	is.Equal(len(members), 100)
	c.act(1, members[0], "is suspended, and nothing was charged; the owner", "user", "suspend", members[0])
	second.Admin("user", "resume", members[0])
	c.act(2, members[1], "is disabled", "user", "disable", members[1])
	c.act(0, members[2], "is not a member", "user", "sponsor", members[2], "--none")
	c.act(1, members[3], "limited to 2", "user", "sponsor", members[3], "--by", "school", "--limit", "total=2")
	c.act(2, "", "the account that pays for this one is suspended", "user", "suspend", "school")
	first.Admin("user", "resume", "school")
	end()
	for _, words := range saidWhy {
		t.Logf("refused %d times: %s", c.refused[words], words)
		is.True(c.refused[words] > 0)
	}
	c.compare()
}

// crowdOfMembers is people behind one key of a school, and what they were answered by some nodes.
type crowdOfMembers struct {
	*testing.T
	nodes []*daemontest.Daemon
	key   string

	mu      sync.Mutex
	refused map[string]int // by words of the message; with a member's name before them, of that member's
}

// saidWhy are words of the messages that refuse a member.
var saidWhy = []string{"too few credits", "limited to 2", "limited to 3", "requests at once", "admits no more",
	"is suspended, and nothing was charged; the owner", "is disabled", "is not a member",
	"the account that pays for this one is suspended"}

// keepAsking has a person ask the nodes until it is over.
func (c *crowdOfMembers) keepAsking(n int, random *rand.Rand, over <-chan struct{}) {
	name := fmt.Sprint("pupil ", n)
	for call := 0; ; call++ {
		o := operation{prompt: fmt.Sprint(name, " asks ", call, " ", random.Int64()), n: 1,
			async: random.IntN(2) == 0}
		a, err := c.nodes[random.IntN(len(c.nodes))].Do(c.Context(), o.request(c.key).
			With("X-OpenWebUI-User-Id", name))
		breath := 20 * time.Millisecond
		switch {
		case err != nil:
			c.Error(err)
			return
		case a.Status < http.StatusMultipleChoices:
			breath = 0
		case !c.note("school/"+name, string(a.Body)):
			c.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
		select {
		case <-over:
			return
		case <-time.After(breath):
		}
	}
}

func (c *crowdOfMembers) note(member, body string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, words := range saidWhy {
		if strings.Contains(body, words) {
			c.refused[words]++
			c.refused[member+words]++
			return true
		}
	}
	return strings.Contains(body, `"overloaded"`) // the sponsor has changed since the request was planned
}

// await waits until somebody is refused, from now on.
func (c *crowdOfMembers) await(what string) {
	c.Helper()
	count := func() int {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.refused[what]
	}
	before := count()
	daemontest.Eventually(c.T, time.Minute, what, func() bool { return count() > before })
}

// act runs a command on a node, and waits until a member is refused for it; "": anybody.
func (c *crowdOfMembers) act(node int, member, words string, command ...string) {
	c.Helper()
	c.nodes[node].Admin(command...)
	c.await(member + words)
}

// listed are the rows of a command.
func (c *crowdOfMembers) listed(command ...string) (rows []map[string]any) {
	c.Helper()
	check(c.T, json.Unmarshal([]byte(c.nodes[0].Admin(append(command, "--json")...)), &rows))
	return rows
}

// members are the names of the members that there are.
func (c *crowdOfMembers) members() (names []string) {
	c.Helper()
	for _, row := range c.listed("user", "members", "school") {
		names = append(names, row["name"].(string))
	}
	return names
}

// compare compares journal, usage and limits once all work has ended.
func (c *crowdOfMembers) compare() {
	c.Helper()
	is := is.New(c.T)
	var usage map[string]float64
	daemontest.Eventually(c.T, time.Minute, "all work ends", func() bool {
		usage = map[string]float64{}
		open := 0.0
		for _, row := range c.listed("usage", "--user", "school", "--by", "member") {
			spent := row["credits_spent"].(float64)
			usage[row["member"].(string)] = spent
			open += row["credits_charged"].(float64) - row["credits_refunded"].(float64) - spent
		}
		return open == 0
	})
	journal := map[string]float64{}
	for _, e := range c.listed("credit", "history", "--user", "school") {
		is.True(e["balance"].(float64) >= 0)
		if e["kind"] == "settle" {
			journal[e["member"].(string)] += e["used"].(float64)
		}
	}
	is.Equal(cmp.Diff(journal, usage), "")
	is.True(len(usage) > 90)
	for member, spent := range usage {
		if spent > 3 {
			c.Errorf("%s has used %v", member, spent)
		}
	}
	c.nodes[0].Clean(c.T)
}

package storetest

import (
	"reflect"
	"slices"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// The tenants of the clauses: one name begins with another, and ids stand before and behind.
var tenantNames = []string{"", "acme", "acme-2", "acm"}

// tenantIDs are the ids that the threads of each tenant have.
var tenantIDs = []string{"acme", "t1", "t2", "zz"}

var everyState = []thread.InterruptState{thread.InterruptOpen, thread.InterruptQueued,
	thread.InterruptAnswered, thread.InterruptSuperseded, thread.InterruptCancelled,
	thread.InterruptExpired}

// tenantKey is the id of a tenant's thread in a store.
func tenantKey(tenant, id string) string {
	if tenant == "" {
		return id
	}
	return tenant + "/" + id
}

// fillTenants gives each tenant the same threads, with the same requests, an open question each, a
// closed one and a wake time. Interrupts are named for their thread.
func fillTenants(tr *trial) {
	tr.Helper()
	for _, id := range tenantIDs {
		for n, tenant := range tenantNames {
			key := tenantKey(tenant, id)
			c := tr.interruptChange(key, &thread.Interrupt{ID: "open of " + key,
				Priority: n % 2}, &thread.Interrupt{ID: "closed of " + key,
				State: thread.InterruptAnswered})
			c.Add(thread.Entry{Type: thread.EntryMessage, Name: "token", Request: "token/1"})
			c.Enter(thread.Frame{Machine: "workflow"}, "ann", "")
			c.TakeLease("engine-1", tr.now)
			c.Finish()
			tr.mustCommit(c)
		}
	}
}

// tenantQueries are, by the method of the port, what shows something of the thread with that id in
// the store to a caller who is of a tenant, nil for all tenants. Each returns the ids of the
// threads that it has shown.
var tenantQueries = map[string]func(tr *trial, tenant *string, key string) []string{
	// it takes what a caller makes of the tenant and an id: no id leads to another tenant's
	"Load": func(tr *trial, tenant *string, key string) []string {
		if tenant != nil {
			_, name := thread.SplitID(key)
			key = tenantKey(*tenant, name)
		}
		t, err := tr.Store.Load(tr.ctx, key)
		if runtime.CodeOf(err) == runtime.CodeNotFound {
			return nil
		}
		require.NoError(tr, err)
		return []string{t.ID}
	},
	"Interrupts": func(tr *trial, tenant *string, key string) (seen []string) {
		for _, q := range []thread.InterruptQuery{{}, {ByAge: true}, {States: everyState},
			{States: everyState, ByAge: true}, {Thread: key}, {Thread: key, ByAge: true},
			{ID: "open of " + key}, {ID: "closed of " + key}, {Assignees: []string{"bob"}},
			{Kinds: []string{thread.KindAgentQuestion}}, {Limit: 1},
			{After: &thread.InterruptMark{Priority: -1}},
			{ByAge: true, After: &thread.InterruptMark{ID: "open of " + tenantIDs[0]}}} {
			q.Tenant = tenant
			for _, i := range tr.mustInterrupts(q) {
				seen = append(seen, i.Thread)
			}
		}
		return seen
	},
	"Log": func(tr *trial, tenant *string, key string) (seen []string) {
		for _, q := range []thread.LogQuery{{}, {Limit: 1}, {After: 2}, {Thread: key},
			{Thread: key, Request: "token/1"}, {Thread: key, AfterSeq: 1, Limit: 2}} {
			q.Tenant = tenant
			for _, e := range tr.mustLog(q) {
				seen = append(seen, e.Thread)
			}
		}
		return seen
	},
	"Threads": func(tr *trial, tenant *string, key string) (seen []string) {
		for _, q := range []thread.Query{{}, {Limit: 1}, {AfterID: key},
			{Statuses: []thread.Status{thread.StatusRunning}}, {Owner: "engine-1"},
			{Statuses: []thread.Status{thread.StatusRunning, thread.StatusDone}},
			{WakeBefore: tr.now.AddDate(1, 0, 0)}} {
			q.Tenant = tenant
			seen = append(seen, rowIDs(tr.mustThreads(q))...)
		}
		return seen
	},
	// two tenants' threads of one id are two: a change of one leaves the other as it is
	"Commit": func(tr *trial, tenant *string, key string) []string {
		if tenant == nil {
			return nil
		}
		_, name := thread.SplitID(key)
		before := recordText(tr.mustLoad(key))
		tr.mustCommit(tr.requestChange(tenantKey(*tenant, name), tr.newID()))
		if before != recordText(tr.mustLoad(key)) {
			return []string{key}
		}
		return nil
	},
}

// tenantsApart calls every method of the port as each tenant for the threads of all others. A
// method that the port gets, and that is not tried here, fails.
func tenantsApart(tr *trial) {
	fillTenants(tr)
	port := reflect.TypeFor[thread.Store]()
	for m := range port.Methods() {
		require.Contains(tr, tenantQueries, m.Name, "say what a tenant sees through it")
	}
	for method, query := range tenantQueries {
		all := query(tr, nil, tenantKey(tenantNames[1], tenantIDs[1]))
		assert.True(tr, method == "Commit" || len(all) > 0, "%s shows nothing at all", method)
		for _, tenant := range append(slices.Clone(tenantNames), "nobody", "acme/t1", "%") {
			for _, other := range tenantNames {
				if other == tenant {
					continue
				}
				if method == "Commit" && !slices.Contains(tenantNames, tenant) {
					continue
				}
				for _, id := range query(tr, &tenant, tenantKey(other, tenantIDs[1])) {
					of, _ := thread.SplitID(id)
					assert.Equal(tr, tenant, of, "%s shows thread %s to tenant %q", method, id,
						tenant)
				}
			}
		}
	}
}

// tenantsComplete holds what a tenant sees to all that is there, and pages to one another.
func tenantsComplete(tr *trial) {
	fillTenants(tr)
	for _, tenant := range tenantNames {
		var want []string
		for _, id := range tenantIDs {
			want = append(want, tenantKey(tenant, id))
		}
		slices.Sort(want)
		assert.Equal(tr, want, rowIDs(tr.mustThreads(thread.Query{Tenant: &tenant})))
		assert.Equal(tr, want, rowIDs(tr.mustThreads(thread.Query{Tenant: &tenant,
			Statuses: []thread.Status{thread.StatusRunning}})))
		assert.ElementsMatch(tr, want, rowIDs(tr.mustThreads(thread.Query{Tenant: &tenant,
			WakeBefore: tr.now.AddDate(1, 0, 0)})))
		var paged []string
		for q := (thread.Query{Tenant: &tenant, Limit: 1}); ; q.AfterID = paged[len(paged)-1] {
			page := rowIDs(tr.mustThreads(q))
			if paged = append(paged, page...); len(page) == 0 {
				break
			}
		}
		assert.Equal(tr, want, paged)
		open, own := []string{}, []string{}
		for _, id := range idsOf(tr.mustInterrupts(thread.InterruptQuery{})) {
			if slices.Contains(want, strings.TrimPrefix(id, "open of ")) {
				open = append(open, id)
			}
		}
		require.Len(tr, open, len(want))
		assert.Equal(tr, open, idsOf(tr.mustInterrupts(thread.InterruptQuery{Tenant: &tenant})))
		for q := (thread.InterruptQuery{Tenant: &tenant, Limit: 1}); ; {
			page := tr.mustInterrupts(q)
			if len(page) == 0 {
				break
			}
			own = append(own, page[0].ID)
			q.After = &thread.InterruptMark{Priority: page[0].Priority, Created: page[0].Created,
				ID: page[0].ID}
		}
		assert.Equal(tr, open, own)
		assert.Len(tr, tr.mustInterrupts(thread.InterruptQuery{Tenant: &tenant, ByAge: true,
			States: everyState}), 2*len(want))
		checkTenantLog(tr, tenant, want)
	}
}

// checkTenantLog holds the log of a tenant to that of its threads, whose keys those are.
func checkTenantLog(tr *trial, tenant string, keys []string) {
	log := 0
	for _, e := range tr.mustLog(thread.LogQuery{Limit: 1000}) {
		if slices.Contains(keys, e.Thread) {
			log++
		}
	}
	found := tr.mustLog(thread.LogQuery{Tenant: &tenant, Limit: 1000})
	assert.Len(tr, found, log)
	var read []thread.Entry
	for q := (thread.LogQuery{Tenant: &tenant, Limit: 3}); ; {
		page := tr.mustLog(q)
		if len(page) == 0 {
			break
		}
		read, q.After = append(read, page...), page[len(page)-1].Cursor
	}
	assert.Equal(tr, jsonText(found), jsonText(read), "pages of the log miss nothing")
	for _, key := range keys {
		assert.Len(tr, tr.mustLog(thread.LogQuery{Tenant: &tenant, Thread: key,
			Request: "token/1"}), 1)
	}
}

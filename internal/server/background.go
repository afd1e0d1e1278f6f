package server

import (
	"cmp"
	"context"
	"time"

	"boon.example/internal/base/certificate"
	"boon.example/internal/base/nice"
	consolegifts "boon.example/internal/face/console/gifts"
	"boon.example/internal/jobs"
	"boon.example/internal/jobs/closing"
	"boon.example/internal/jobs/expiry"
	"boon.example/internal/jobs/retention"
	"boon.example/internal/post/delivery"
	"boon.example/internal/post/guestlink"
	"boon.example/internal/post/notice"
)

// FilesEvery is how often the files of the embedded store are looked at: what is wrong with them is noticed within a
// minute.
const FilesEvery = 15 * time.Second

// start begins what runs beside the requests; worker sends the messages of live accounts.
func (a *app) start(ctx context.Context, worker *delivery.Worker) {
	a.jobs = jobs.New(ctx, a.Logger, a.metrics.registry)
	a.jobs.Start(a.list()...)
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	a.running, a.stopBackground = running, cancel
	for _, run := range []func(context.Context){a.store.WatchEvents(), a.watchStore(), a.auditor.Run,
		a.tests.Run} {
		a.background.Go(func() { run(running) })
	}
	if a.Certificate != nil && a.Certificate.Run != nil {
		a.background.Go(func() { a.Certificate.Run(running) })
	}
	if a.carriers.email != nil || a.carriers.sms != nil {
		a.background.Go(func() { worker.Run(running) })
	}
}

// list is every job of the service. docs/operating/watch.md lists them too.
func (a *app) list() []jobs.Job {
	all := []jobs.Job{
		{Name: "read-setup", Every: setupAge, Batch: jobs.Whole(a.readSetup),
			Failed: "the set-up could not be read; the last one stands"},
		{Name: "watch-disk", Every: setupAge, Batch: jobs.Whole(a.watchRoom())},
		{Name: "check-files", Every: cmp.Or(a.FilesEvery, FilesEvery), Batch: jobs.Whole(a.store.CheckFiles),
			Failed: "THE DATABASE IS NO LONGER WHAT THIS SERVICE OPENED"},
		{Name: "write-key-use", Every: keyUseTick, Batch: a.writeKeyUses, Last: a.writeLastKeyUses,
			Failed: "when keys were used could not be written"},
		{Name: "expire-holds", Every: cmp.Or(a.HoldsEvery, HoldsEvery), Pause: holdsPause, Batch: a.expireHolds(),
			Failed: "holds that are over could not be entered"},
		{Name: "expire-test-holds", Every: cmp.Or(a.HoldsEvery, HoldsEvery), Pause: holdsPause,
			Batch: a.expireTestHolds(), Failed: "holds of test accounts that are over could not be entered"},
		{Name: "tell-expiry", Every: expiry.Every, Pause: expiry.Pause, Batch: a.expiry.Batches(),
			Failed: "gifts that expire could not be told of"},
		{Name: "close-books", Every: closing.Every, Pause: closing.Pause, Batch: a.yielding(a.closer().Batches()),
			Failed: "days could not be closed in the books; reports read their entries"},
		{Name: "sum-open-days", Every: closing.SumEvery, Pause: closing.Pause, Batch: a.yielding(a.summer().Batches()),
			Failed: "days that are open could not be summed up; reports read their entries"},
		{Name: "check-books", Every: closing.CheckEvery, Pause: closing.Pause, Batch: a.yielding(a.bookChecker().Batches()),
			Failed: "CLOSED DAYS IN THE BOOKS ARE NOT WHAT THEIR ENTRIES SAY, or could not be checked"},
		{Name: "erase-people", Every: retention.Every, Batch: a.retention().Batch,
			Failed: "what old gifts say of people could not be erased"},
		{Name: "send-lists", Every: listsEvery, Batch: jobs.Each(a.sender().Due, a.sender().Step),
			Failed: "lists of people who are sent gifts could not go on"},
		{Name: "verify-restored", Every: failedTold, Batch: jobs.Whole(a.verifyRestored),
			Failed: "the restored database could not be verified"},
		a.webhooks(),
		{Name: "tell-staff", Every: notice.Every, Batch: a.notices().Batch,
			Failed: "mails to the staff could not be sent"},
		{Name: "send-guest-links", Every: guestlink.Every, Batch: a.guestLinks().Batch,
			Failed: "links to guests' gifts could not be sent"},
		a.phones.job(),
	}
	if a.Certificate != nil && a.Certificate.Check != nil {
		all = append(all, jobs.Job{Name: "check-certificate", Every: certificate.Every,
			Batch: jobs.Whole(a.Certificate.Check), Failed: "the new certificate cannot be used; the one before is shown"})
	}
	if a.AdminListen != "" { // how much a merchant sells is no matter of who else uses the machine
		all = append(all, a.watchValues())
	}
	return append(all, a.forget()...)
}

// batch is what a job does at a time.
type batch = func(context.Context) (done int, more bool, err error)

// yielding is a batch that makes room for tills.
func (a *app) yielding(do batch) batch {
	return func(ctx context.Context) (int, bool, error) { return do(nice.Background(ctx, a.admission.Busy)) }
}

// notices tells members of the staff of sign-ins on new devices.
func (a *app) notices() *notice.Sender {
	return &notice.Sender{Store: a.store, Email: a.carriers.email, Test: delivery.OutboxCarrier{Outbox: a.store},
		Directory: a.directory.Load, PublicURL: a.PublicURL, RetryFor: cmp.Or(a.RetryFor, 24*time.Hour), Log: a.Logger}
}

// guestLinks sends people who ask for their gifts a link.
func (a *app) guestLinks() *guestlink.Sender {
	return &guestlink.Sender{Store: a.store, Email: a.carriers.email, SMS: a.carriers.sms,
		Test: delivery.OutboxCarrier{Outbox: a.store}, Directory: a.directory.Load, PublicURL: a.PublicURL,
		Allow: a.mayMessage, Log: a.Logger}
}

// listsEvery is how often lists of people who are sent gifts are looked for: somebody waits for theirs.
const listsEvery = time.Second

// sender sends gifts to the people of lists.
func (a *app) sender() *consolegifts.Sender {
	return &consolegifts.Sender{Store: a.store, Directory: a.directory.Load, Operations: a.api.Operations()}
}

// closer closes days in the books.
func (a *app) closer() *closing.Closer {
	return &closing.Closer{Store: a.store, Directory: a.directory.Load, Logger: a.Logger}
}

// summer sums up open days for reports.
func (a *app) summer() *closing.Summer {
	return &closing.Summer{OpenDays: a.store, Directory: a.directory.Load}
}

// bookChecker checks closed days in the books.
func (a *app) bookChecker() *closing.Checker {
	return &closing.Checker{Checks: a.store, Directory: a.directory.Load}
}

// retention erases what is kept too long.
func (a *app) retention() *retention.Job {
	return &retention.Job{Store: a.store, Directory: a.directory.Load}
}

// forget are the jobs that delete what is old enough, and the one that frees messages that a wrong clock holds.
func (a *app) forget() []jobs.Job {
	requests := &forgetting{store: a.store, keep: a.KeepRequests}
	job := func(name string, list func(context.Context) ([]portions, error)) jobs.Job {
		return jobs.Job{Name: name, Every: forgetEvery, Pause: forgetPause, Batch: jobs.Each(list, next),
			Failed: "what is old could not be deleted"}
	}
	return []jobs.Job{
		job("delete-requests", func(ctx context.Context) ([]portions, error) {
			return requests.due(ctx, a.directory.Load(), time.Now())
		}),
		job("delete-messages", a.oldMessages), job("delete-counts", a.oldCounts), job("delete-attempts", a.oldAttempts),
		{Name: "delete-sheets", Every: forgetEvery, Failed: "what is old could not be deleted",
			Batch: jobs.Whole(func(ctx context.Context) error { return a.store.ForgetSheets(ctx, time.Now()) })},
		{Name: "delete-lists", Every: forgetEvery, Failed: "what is old could not be deleted",
			Batch: jobs.Whole(func(ctx context.Context) error { return a.store.ForgetSendLists(ctx, time.Now()) })},
		{Name: "delete-guest-links", Every: forgetEvery, Failed: "what is old could not be deleted",
			Batch: jobs.Whole(func(ctx context.Context) error { return a.store.ForgetGuests(ctx, time.Now()) })},
		{Name: "free-messages", Every: forgetEvery, Failed: "messages that a wrong clock holds could not be freed",
			Batch: jobs.Whole(func(ctx context.Context) error { return a.store.FreeJobs(ctx, time.Now()) })},
	}
}

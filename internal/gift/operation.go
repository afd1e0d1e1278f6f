package gift

// Operation names a call that changes something, as the scope of an Idempotency-Key.
type Operation string

// The operations.
const (
	SendGift          Operation = "send-gift"
	RedeemGift        Operation = "redeem-gift"
	HoldGift          Operation = "hold-gift"
	CaptureHold       Operation = "capture-hold"
	ReleaseHold       Operation = "release-hold"
	ReverseRedemption Operation = "reverse-redemption"
	CancelGift        Operation = "cancel-gift"
	ReinstateGift     Operation = "reinstate-gift"
	ResendGift        Operation = "resend-gift"
	RescheduleGift    Operation = "reschedule-gift"
	ReloadGift        Operation = "reload-gift"
	ReverseReload     Operation = "reverse-reload"
	CashOutGift       Operation = "cash-out-gift"
	TransferBalance   Operation = "transfer-balance"
	CreateStock       Operation = "create-stock"
	ActivateGift      Operation = "activate-gift"
	ReverseActivation Operation = "reverse-activation"
	BlockGift         Operation = "block-gift"
	UnblockGift       Operation = "unblock-gift"
	AdjustGift        Operation = "adjust-gift"
	ExtendGift        Operation = "extend-gift"
	ReplaceGift       Operation = "replace-gift"
)

package merchant

// Wallet is what makes gifts passes for the wallets of phones.
type Wallet struct {
	Apple  AppleWallet  `json:"apple,omitzero" told:"Apple Wallet"`
	Google GoogleWallet `json:"google,omitzero" told:"Google Wallet"`
}

// GoogleWallet is what Google gave a merchant for passes; zero: there are none.
type GoogleWallet struct {
	// the digits by which Google knows the merchant
	Issuer string `json:"issuerID,omitempty" setup:",required" is:"issuer" told:"issuer at Google Wallet"`
	// the JSON file of a service account, with its private key; it is stored sealed
	Key string `json:"-" setup:"serviceAccount" is:"service account" told:"service account of Google Wallet"`
}

// AppleWallet is what Apple gave a merchant for passes; zero: there are none.
type AppleWallet struct {
	// such as pass.com.example.gifts
	PassType string `json:"passTypeIdentifier,omitempty" told:"pass type of Apple Wallet"`
	// the merchant's team at Apple
	Team string `json:"teamIdentifier,omitempty" told:"team at Apple"`
	// for the pass type, and that of its issuer, in PEM form
	Certificate string `json:"certificate,omitempty" setup:",required" is:"pass certificate" told:"certificate of Apple Wallet"`
	// the private key of the certificate, in PEM form; it is stored sealed
	Key string `json:"-" setup:"key" is:"pass key" told:"private key of Apple Wallet"`
}

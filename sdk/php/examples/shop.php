<?php

// An example: a web shop that sells a gift, and a till that takes it. It plays against a running service:
//
//     BOON_URL=http://127.0.0.1:8080 php examples/shop.php
//
// Without keys in BOON_SHOP_KEY and BOON_TILL_KEY it uses those of boon demo.

declare(strict_types=1);

use Boon\Amount;
use Boon\BoonError;
use Boon\Client;

require __DIR__ . '/../boon.php';

$url = getenv('BOON_URL') ?: 'http://127.0.0.1:8080';
$shop = new Client($url, getenv('BOON_SHOP_KEY') ?: 'boon_test_demo_only_harbor_coffee_web_shop');
$till = new Client($url, getenv('BOON_TILL_KEY') ?: 'boon_test_demo_only_harbor_coffee_till');

// Sends a gift that was paid in the shop. The order's number is a good key: a page sent twice sells once.
$order = $shop->sendGift([
    'monetaryGift' => ['value' => new Amount('25.00'), 'deliveryMethodID' => 3, 'recipientDescription' => 'Ana'],
    'paymentMethodID' => 2,
    'externalTransactionReferenceNumber' => 'WEB-1001',
    'externalTransactionCustomerFirstName' => 'Carla',
    'externalTransactionCustomerLastName' => 'Diaz',
    'externalTransactionCustomerEmailAddress' => 'carla@example.com',
    'externalStorefrontID' => '7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c21',
], 'order-' . Client::newKey());
$gift = $order['gifts'][0];
echo "sold: {$gift['currentBalance']} {$gift['currency']} for {$gift['recipientDescription']}\n";

// A till asks what the gift is worth, takes a part, is refused more than is left, and gives back.
$shown = $till->validateGift(['voucherPublicToken' => $gift['giftURL']]);
echo "worth: {$shown['currentBalance']}\n";

$key = Client::newKey(); // kept with the sale before it is used
$sale = ['voucherID' => $shown['voucherID'], 'reference' => 'check 1'];
$paid = $till->redeemSafely(new Amount('9.50'), $sale, $key); // Voided and UnknownOutcome tell what to do
echo "taken: {$paid['amount']} left: {$paid['currentBalance']}\n";

try {
    $till->redeemSafely(20, ['voucherID' => $shown['voucherID']], Client::newKey());
} catch (BoonError $refusal) {
    echo "refused: {$refusal->code}\n";
}

$back = $till->reverseRedemption(Amount::all(), ['idempotencyKey' => $key, 'reason' => 'wrong table'], Client::newKey());
echo "given back: {$back['amount']} left: {$back['currentBalance']}\n";

$kinds = array_column(iterator_to_array($shop->history($gift['voucherID']), false), 'kind');
echo 'history: ', implode(' ', $kinds), "\n";

// A small card game of 52 cards for four seats: play a card of a hand to the pile, draw another; hands and deck are hidden.
// One client can play all four seats, which is the least that a server can be asked to do, or each seat has its own.
const HANDS = 4;
const HAND = 5;

exports.cardGame = (clients) => ({
  name: "silver",
  minPlayers: clients,
  maxPlayers: clients,
  setup: ({ random }) => {
    const deck = random.Shuffle([...Array(52).keys()]);
    return { hands: [...Array(HANDS)].map(() => deck.splice(0, HAND)), deck, pile: [deck.pop()], seat: 0 };
  },
  moves: {
    // Carried out by the server alone, so that what a client sees is what the server has kept.
    play: {
      client: false,
      move: ({ G, random }, place) => {
        const hand = G.hands[G.seat];
        G.pile.push(hand[place]);
        if (G.deck.length === 0) {
          G.deck = random.Shuffle(G.pile.splice(0, G.pile.length - 1));
        }
        hand[place] = G.deck.pop();
        G.seat = (G.seat + 1) % HANDS;
      },
    },
  },
  turn: { minMoves: 1, maxMoves: 1 },
  playerView: ({ G, playerID }) => ({
    ...G,
    deck: G.deck.length,
    hands: G.hands.map((hand, seat) => (String(seat) === playerID || (clients === 1 && seat === G.seat) ? hand : hand.length)),
  }),
});

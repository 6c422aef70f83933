// The plots. In each, a wish or a trouble has a cause, the attempt answers it, and the ending comes
// back to the name, the thing and the place. Pronouns are always the hero's; everyone else goes by
// name, so that who is meant is never in doubt.
#include "stories/grammar.h"

namespace loom::stories {

const std::string_view kPlots = R"grammar(
plot lost hero:people friend:people!hero place:places toy:toys color:colors spot:spots
* <open>
* {He} had {a color} {toy} that {he} (loved very much|took everywhere).
| {He} loved {his} {color} {toy} more than (anything|cake|all the stars).
* <day>, {he} took the {toy} to the {place} and left it {spot}.
| <day>, {he} fell asleep {place.at} and left the {toy} {spot}.
* (That evening|At bedtime) the {toy} was gone. "Oh no, my {toy}!" {he} (cried|said).
| When {hero} came home, the {toy} was gone, and {he} (cried|was very sad).
* "Where did you (see it last|play today)?" asked {his} friend {friend.full}.
* They (ran|hurried) back to the {place} and found the {toy} {spot.the}.
| They (ran|hurried) to the {place}, looked {spot.the}, and there was the {toy}!
* {Hero} hugged the {toy} and {glad} with joy.
| "Thank you, {friend}!" said {hero}, and {he} {glad} with joy.
* After that, {hero} never left {his} {color} {toy} {place.at} again.
| After that, {hero} always took {his} {color} {toy} home from the {place}.

plot weather hero:people friend:people!hero place:places game:games weather:weather parent:parents
* <open>
* <day>, {he} <went> to the {place} with {his} friend {friend.full} to {game}.
| <day>, {his} friend {friend.full} asked {him} to {game} {place.at}.
* (Suddenly|But then|Soon) {weather}, and {hero} was {weather.made}.
| They had just begun when {weather}. "Now I am {weather.made}!" said {hero}.
* "(Quick, come|Come|Let us run) to my house!" (said|cried) {friend}.
| "Come home with me," said {friend}, and took {his} hand.
* They (ran|hurried) from the {place}, and {friend}'s {parent} gave {hero} {weather.gave}.
| At home, {friend}'s {parent} gave {hero} {weather.gave}.
* Soon {hero} was {weather.now} and happy again.
| "Now I am {weather.now} again," {hero} (laughed|said).
* The next day the {weather.name} was gone, and {hero} and {friend} could {game} {place.at} again.
| When the {weather.name} was gone, {hero} and {friend} went back to the {place} to {game}.

plot high hero:people helper:tall place:places thing:flyers color:colors perch:perches
* <open>
* {He} had {a color} {thing} and was very proud of it.
| For {his} birthday, {he} got {a color} {thing}.
* <day>, {he} took the {thing} to the {place}, but the wind blew it {perch}.
| <day>, {he} <went> to the {place}. Whoosh! The wind blew the {thing} {perch}.
* {Hero} jumped and jumped, but {perch.the} was too high.
| {Hero} tried to climb after it, but {perch.the} was too high.
| {Hero} sat down and cried, for {perch.the} was too high.
* (Just then|Soon) {helper.full} came along.
| Then {hero} saw {helper.full} and had an idea.
* "You are so tall! Can you help me?" asked {hero}.
| "Please, {helper}, can you reach my {thing}?" asked {hero}.
* With {helper.with}, the {helper.kind} took the {thing} down from {perch.the}.
* "Thank you, {helper}!" said {hero}, and {he} {glad} with joy.
| {Hero} was so happy that {he} {glad}.
* Then they played {place.at} with the {color} {thing} until (dark|bedtime).
| Now {hero} and {helper} often take the {color} {thing} to the {place}.

plot share hero:people friend:people!hero place:places food:foods mishap:mishaps parent:parents
* <open>
* <day>, {his} {parent} made {a food} for {him}, and {he} took it to the {place}.
| <day>, {he} <went> to the {place} with {a food} from {his} {parent}.
* There {he} (met|saw|found) {friend.full}, who looked sad.
| {friend.Full} sat there and looked sad.
? "What is (wrong|the matter), {friend}?" asked {hero}.
* "{mishap.Lunch}," said {friend}, "and now I am (very|so) hungry."
| "I am hungry because {mishap}," said {friend}.
* {Hero} broke the {food} in two and gave {friend} the bigger half.
| "We can share my {food}," said {hero}, and gave {friend} half of it.
* They sat {place.at} side by side and ate it all up.
| Side by side they ate the {food}, and {friend} forgot about {mishap.the}.
* "{a Food} is best when you share it," said {hero}, and {he} {glad} with joy.
| The next day {friend} came to the {place} with {a food} for {hero}.

plot noise hero:people place:places noise:noises toy:toys color:colors parent:parents
* <open>
* One (dark|cold|quiet) night, {he} lay in bed and heard a {noise}.
| One (dark|cold|quiet) night, {he} woke up because there was a {noise}.
* "(What is that|Who is there)?" {he} (asked|whispered).
| {His} heart went thump, thump, thump.
* {He} hugged {his} {color} {toy} under the blanket.
| {He} pulled up the blanket and held {his} {color} {toy} very tight.
* {Hero} called for {his} {parent}, who came at once with a lamp.
| There was the {noise} again! {Hero} called for {his} {parent}.
* "It is only {noise.source}!" said {his} {parent}.
| And what did they find? It was just {noise.source}!
* {Hero} laughed and was not afraid any more.
| "So that was the {noise}!" {hero} laughed.
* Soon {hero} and the {color} {toy} were fast asleep in the house near the {place}.
| Then {he} fell asleep and dreamed of the {color} {toy} and the {place}.

plot broken hero:people friend:people!hero place:places loan:loans color:colors repair:repairs
* <open>
* <day>, {friend.full} let {him} play with {a color} {loan}.
| <day>, {he} asked {friend.full}, "May I play with your {color} {loan}?"
* But {hero} ran too fast {place.at} and fell over a (rock|stone|stick).
| But {hero} fell over a (rock|stone|stick) {place.at}.
* (Crash|Bump)! The {loan} (fell down and broke|was broken).
? {Hero} wanted to hide it, but that did not feel right.
* "I am sorry, {friend}. I broke your {loan}," {he} said.
| {He} took the {loan} back and said, "I am sorry, {friend}."
* "Thank you for telling the truth," said {friend}.
| "I am glad you told me the truth," said {friend}.
* They found some {repair} and {repair.did} the {loan} together.
| {Hero} found some {repair}, and soon the {loan} was as good as new.
* Then the two friends took the {color} {loan} to the {place}.
| After that, {hero} always walked slowly {place.at} with {friend}'s {color} {loan}.

plot gift hero:people friend:people!hero place:places gift:gifts
* <open>
* {His} (best|good) friend was {friend.full}, and tomorrow was {friend}'s birthday.
| Tomorrow was the birthday of {his} (best|good) friend {friend.full}.
* {He} had no gift, so {he} <went> to the {place} to think.
| "What can I give to {friend}?" {he} asked, and <went> to the {place} to think.
* There {he} saw {gift.stuff} all around, and {he} had an idea.
| There were {gift.stuff} everywhere. "I know!" said {hero}.
* {He} took the best {gift.stuff} and made {a gift}.
| {He} worked until (dark|bedtime) and made {a gift} out of {gift.stuff}.
* The next day, {friend} opened the box and (smiled|laughed).
| The next day, {hero} put the {gift} in a box for {friend}.
* "{a Gift}! Did you make it for me?" asked {friend}.
| "What a (fine|lovely) {gift}!" said {friend}.
? {Hero} was so happy that {he} {glad}.
* {Friend} always kept the {gift} made of {gift.stuff} from the {place}.
| "The {gift.stuff} are from the {place}," said {hero}. {Friend} loved the {gift} more than anything.

plot grow hero:people friend:people!hero place:places plant:plants trouble:troubles
* <open>
* <day>, {his} friend {friend.full} gave {him} {plant.seed}.
| <day>, {he} found {plant.seed} and showed it to {his} friend {friend.full}.
* {Hero} made a (small|little) hole {place.at} and planted it.
| They planted it {place.at}, and {hero} waited and waited.
* (Soon|After a week) a (tiny|small|little) green leaf came up.
* But then {trouble}, and the {plant} looked sick.
| But one day the {plant} looked sick because {trouble}.
* {Friend} had a (good|clever) idea, so {hero} {trouble.fix}.
| {He} asked {friend} for help, and then {he} {trouble.fix}.
* Day after day the {plant} grew bigger.
| By summer it was the (best|biggest) {plant} of all.
* "We did it, {friend}!" said {hero}, and {he} {glad} with joy.
| {Hero} was so happy that {he} {glad}.
* Now {hero} and {friend} often play {place.at} beside the {plant}.
| {Hero} and {friend} love to sit {place.at} beside the {plant}.

plot learn hero:people friend:people!hero place:places skill:skills
* <open>
* {He} wanted to {skill} more than anything.
| {He} had one (big|little) wish: to {skill}.
* <day>, {he} <went> to the {place} to try it, but {he} {skill.oops}.
| <day>, {he} tried to {skill} {place.at}, but {he} {skill.oops}.
? "I will never learn to {skill}," {he} (cried|said).
* {His} friend {friend.full} (came over|sat down beside {him}).
* "Do not (give up|be sad)," said {friend}. "I will help you."
| "I will (show you how|help you)," said {friend}.
* They tried it {place.at} every (day|morning|afternoon).
| Every (day|morning|afternoon) they met {place.at}.
* Then one (day|morning|evening) {hero} {skill.did} all alone!
| At last {hero} {skill.did} all alone!
* "Look, {friend}, I am {skill.doing}!" said {hero}, and {he} {glad} with joy.
| "{Hero}, you are {skill.doing}!" said {friend}, and {hero} {glad} with joy.
* Now {hero} and {friend} love {skill.doing} {place.at} together.
| Now {hero} and {friend} often meet {place.at} to {skill} together.

plot meet hero:people friend:people!hero place:places game:games
* <open>
* {He} liked to {game}, but {he} had nobody to {game} with.
| {He} was often sad, because {game.playing} alone is no fun.
* <day>, {he} <went> to the {place} and (saw|met) {friend.full}, who was new there.
| <day>, {friend.full} came to the {place} and stood there all alone.
* {Hero} felt shy and hid behind a (tree|rock|bush). But {friend} looked lonely too.
| {Hero} felt shy, but {friend} looked lonely too.
* "Hello, I am {hero}," {he} said. "Do you want to {game}?"
| "Hello!" {he} said. "My name is {hero}. Can we {game}?"
* "I would love to {game}!" said {friend}.
| "Yes!" (said|cried) {friend}. "I love {game.playing}!"
* They had fun {game.playing} until (dark|bedtime).
| They were {game.playing} all (day|morning|afternoon).
* Now {hero} and {friend} meet {place.at} every day.
| After that, {hero} was never lonely {place.at} again, because {friend} was there.
)grammar";

}  // namespace loom::stories

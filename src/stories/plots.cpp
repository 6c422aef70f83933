// The plots. In each, a wish or a trouble has a cause, the attempt answers it, and the ending comes back to the name, the
// thing and the place. Pronouns are always the hero's; everyone else goes by name, so that who is meant is never in doubt.
#include "stories/grammar.h"

namespace loom::stories {

const std::string_view kPlots = R"grammar(
plot lost hero:people friend:people!hero place:places toy:toys color:colors spot:spots
* <open>
* {His} (favorite|best|dearest) toy was {a color} {toy}.
| {He} had {a color} {toy} that {he} (loved very much|took everywhere).
| {He} loved {his} {color} {toy} more than (anything|cake|all the stars).
* <day>, {he} took the {toy} to the {place} and left it {spot}.
| <day>, {he} fell asleep {place.at} and left the {toy} {spot}.
| <day>, {he} put the {toy} {spot} {place.at} and ran after a (butterfly|bee).
* (That evening|At supper|At bedtime), {hero} saw that the {toy} was gone.
| When {hero} came home, the {toy} was not there.
* "Oh no, where is my {toy}?" {he} (cried|sobbed).
| A big tear rolled down {his} (cheek|nose).
* "Where did you (have it last|see it last|play today)?" asked {his} friend {friend.full}.
| {His} friend {friend.full} came to help. "Where did you (see it last|play today)?"
* {Hero} thought hard and remembered the {place}.
| "{place.At}!" said {hero}.
* They (ran|hurried) to the {place}, looked {spot.the}, and there was the {toy}!
| Together they went to the {place} and found the {toy} {spot.the}.
* {Hero} hugged the {toy} and {glad} with joy.
| "Thank you, {friend}!" said {hero}, and {he} {glad} with joy.
* (From that day on|After that), {hero} never left {his} {color} {toy} {place.at} again.
| (From that day on|After that), {hero} always carried {his} {color} {toy} home from the {place}.

plot weather hero:people friend:people!hero place:places game:games weather:weather parent:parents
* <open>
* <day>, {he} <went> to the {place} with {his} friend {friend.full} to {game}.
| <day>, {his} friend {friend.full} asked {him} to {game} {place.at}.
* (Suddenly|All at once|But then), {weather}.
| They had just begun when {weather}.
* (Soon|In no time), {hero} was {weather.made}.
| "Oh dear," said {hero}. "Now I am {weather.made}!"
* "(Quick, come|Come|Let us run) to my house!" (said|called) {friend}.
| {Friend} took {his} hand and said, "Come home with me."
* They (ran|hurried) from the {place} to {friend}'s house as fast as they could.
| They left the {place} and (ran|hurried) all the way to {friend}'s house.
* There, {friend}'s {parent} gave {hero} {weather.gave}.
| {Friend}'s {parent} was at the door with {weather.gave} for {hero}.
* (Soon after|A little later), {hero} was {weather.now} and happy again.
| "Now I am {weather.now} again," {hero} (laughed|sighed).
* The next day there was no more {weather.name}, and {hero} and {friend} could {game} {place.at} after all.
| The next day the {weather.name} was gone, so {hero} and {friend} went back to the {place} to {game}.

plot high hero:people helper:tall place:places thing:flyers color:colors perch:perches
* <open>
* {He} had {a color} {thing} and was very proud of it.
| {He} (loved|liked) to run about with {his} {color} {thing}.
| For {his} birthday, {he} got {a color} {thing}.
* <day>, {he} took the {thing} to the {place}.
| <day>, {he} <went> to the {place} with the {thing}.
* (Whoosh! The|Suddenly the) wind blew the {thing} {perch}.
| The wind puffed and puffed and carried the {thing} {perch}.
* {Hero} jumped and jumped, but {perch.the} was too high.
| {Hero} tried to climb after it, but {perch.the} was too high.
* "My poor {thing}!" {he} (cried|sighed).
| {He} sat down and (sniffed|cried) a little.
* (Just then|A moment later), {helper.full} came along.
| Then {hero} saw {helper.full} and had an idea.
* "{Helper}, you are so tall! Can you help me?" asked {hero}.
| "Please, {helper}, can you reach my {thing}?" asked {hero}.
* "Of course," said {helper}, and with {helper.with} the {helper.kind} took the {thing} down from {perch.the}.
| With {helper.with}, {helper} the {helper.kind} took the {thing} down from {perch.the}.
* <glad>
* "Thank you, {helper}!" {he} said, and they played {place.at} with the {color} {thing}.
| Now when {hero} takes the {color} {thing} to the {place}, {helper} always comes too.

plot share hero:people friend:people!hero place:places food:foods mishap:mishaps parent:parents
* <open>
* <day>, {his} {parent} made {a food} for {him}, and {he} took it to the {place}.
| <day>, {he} <went> to the {place} with {a food} from {his} {parent}.
* There {he} (met|saw|found) {friend.full}, who looked (sad|gloomy).
| {friend.Full} sat there and looked (sad|gloomy).
* "What is (wrong|the matter), {friend}?" asked {hero}.
| "Why are you so (sad|quiet), {friend}?" asked {hero}.
* "{mishap.Lunch}," said {friend}, "and now I am (very|so) hungry."
| "I am hungry because {mishap}," said {friend}.
* {Hero} looked at the {food}. It was not very big, but {friend} was {his} friend.
| {Hero} was very fond of the {food}, but even more fond of {friend}.
* So {he} broke the {food} in two and gave {friend} the bigger half.
| "We can share my {food}," {he} said, and gave {friend} half of it.
* They sat {place.at} side by side and ate up every crumb.
| Side by side they ate the {food}, and it had never tasted so good.
* {Friend} laughed and forgot all about {mishap.the}.
| Soon {friend} was not thinking of {mishap.the} any more.
* "{a Food} is best when you share it," said {hero}, and {friend} {friend.glad} with joy.
| The next day {friend} came to the {place} with {a food} for {hero}.

plot bake hero:people friend:people!hero place:places dish:dishes parent:parents
* <open>
* <day>, {he} wanted to make {a dish} for {his} {parent}.
| <day>, {he} said, "I will (surprise|cheer up) my {parent} with {a dish}."
* {He} put on {his} apron, but there {dish.none} in the kitchen.
| {He} looked in every cupboard, but there {dish.none}.
* "No {dish.need}, no {dish}!" {he} (sighed|said).
| "I cannot make {a dish} without {dish.need}," {he} (sighed|said).
* So {he} <went> to the {place} to ask {friend.full} for help.
* "{Friend}, may I have some {dish.need}, please?" {he} asked.
| "Hello, {friend}, do you have some {dish.need} for me?" {he} asked.
* "Take all the {dish.need} you want," said {friend}. "I will help you."
| {Friend} gave {him} a big bowl of {dish.need} and came along to help.
* {Hero} and {friend} (mixed|stirred) and sang a (silly|happy) song.
| {Hero} (mixed|stirred), and {friend} tasted.
* Soon the {dish} was ready, and it smelled wonderful.
| Soon the whole house smelled of {dish}.
* "(What a lovely|This is the best) {dish}!" said {his} {parent}.
* {Hero} {glad} with joy, and they all ate together near the {place}.
| {Hero} {glad} with joy and took a big piece to the {place} for {friend}.

plot noise hero:people place:places noise:noises toy:toys parent:parents
* <open>
* One (dark|cold|windy) night, {he} lay in bed and heard a {noise}.
| One (dark|cold|windy) night, {he} woke up because there was a {noise}.
* "(What is that|Who is there)?" {he} whispered.
| {His} heart went thump, thump, thump.
* {He} (hid under|pulled up) the blanket and held {his} {toy} very tight.
| {He} (hugged|squeezed) {his} {toy} under the blanket.
* The {noise} came again, and {hero} called for {his} {parent}.
| There was the {noise} again! {Hero} called for {his} {parent}.
* {His} {parent} came in with a (candle|lamp) and sat down on the bed.
| {His} {parent} came at once and lit a (candle|lamp).
* "Let us (find out what it is|be brave and look)," said {his} {parent}.
* Hand in hand they (tiptoed|crept) through the house with the {toy}.
| They listened here and they listened there.
* It was only {noise.source}!
| And what did they find? It was just {noise.source}!
* {Hero} (laughed|giggled) and was not afraid any more.
| "So that was the {noise}!" {hero} (laughed|giggled).
* Soon {hero} and the {toy} were fast asleep in the house near the {place}.
| Then {he} fell asleep and dreamed of taking the {toy} to the {place}.

plot broken hero:people friend:people!hero place:places loan:loans color:colors repair:repairs
* <open>
* <day>, {friend.full} let {him} borrow {a color} {loan}.
| <day>, {he} asked {friend.full}, "May I borrow your {color} {loan}?" {Friend} said yes.
* But {hero} ran too fast {place.at} and tripped over a (root|stone|stick).
| But {hero} (skipped|raced) about {place.at} and did not look where {he} was going.
* Crash! The {loan} fell down and broke.
| Bump! Down fell {hero}, and the {loan} broke.
* {Hero} wanted to hide it, but that did not feel right.
| {He} felt (awful|terrible), and {his} ears turned hot.
* {He} took the {loan} back and said, "I am sorry, {friend}. I was not careful."
| "{Friend}, I was not careful and broke your {loan}," {he} said. "I am very sorry."
* {Friend} was sad at first. "Thank you for telling me the truth," said {friend}.
| "I am glad that you told me the truth," said {friend}.
* They found {repair} and (carefully|slowly) {repair.did} the {loan} together.
| {Hero} brought {repair}, and together they {repair.did} the {loan}.
* Soon the {loan} was as good as new.
| When they were done, the {loan} looked better than before.
* {Hero} {glad} with joy, and the two friends took the {color} {loan} to the {place}.
| After that, {hero} always walked slowly {place.at} with {friend}'s {color} {loan}.

plot gift hero:people friend:people!hero place:places gift:gifts
* <open>
* {His} (best|dear|good) friend was {friend.full}, and tomorrow was {friend}'s birthday.
| Tomorrow was the birthday of {his} (best|dear|good) friend {friend.full}.
* {Hero} had no money for a present, so {he} was (sad|worried).
| "What can I give to {friend}?" {he} (wondered|asked). "I have no money."
* {He} <went> to the {place} to think about it.
* There {he} saw {gift.stuff} all around, and {he} had an idea.
| There were {gift.stuff} everywhere. "I know!" said {hero}.
* {He} picked up the best {gift.stuff} and worked until (dark|sunset|bedtime).
| {He} filled a bag with {gift.stuff} and worked until (dark|sunset|bedtime).
* {He} made {a gift} out of {gift.stuff} and put it in a box.
| With care {he} turned the {gift.stuff} into {a gift}.
* The next (day|morning), {friend} opened the box and (gasped|smiled).
* "{a Gift}! Did you make it for me?" asked {friend}.
| "What a beautiful {gift}!" said {friend}.
* "Yes, I made it out of {gift.stuff} from the {place}," said {hero}.
| "The {gift.stuff} are from the {place}," said {hero}, and {he} {glad} with joy.
* {Friend} loved the {gift} more than any other present.
| {Friend} gave {hero} a big hug and kept the {gift} forever.

plot grow hero:people friend:people!hero place:places plant:plants trouble:troubles
* <open>
* <day>, {his} friend {friend.full} gave {him} {plant.seed}.
| <day>, {he} found {plant.seed} and showed it to {his} friend {friend.full}.
* {Hero} dug a (small|deep) hole {place.at} and planted it.
| They planted it {place.at}, and {hero} (waited and waited|hoped it would grow).
* After a week, a tiny green leaf peeked out.
| Soon a tiny leaf came up. "Hello, little {plant}!" said {hero}.
* {trouble.Was}, and the little {plant} began to droop.
| But then the {plant} began to droop. {trouble.Was}.
* "My {plant} is sick!" {he} (cried|said). "What can I do?"
| {Hero} was (worried|afraid) that the {plant} would die.
* {Friend} had a (good|clever) idea, so {hero} {trouble.fix}.
| {He} asked {friend} for advice, and then {he} {trouble.fix}.
* Day after day the {plant} grew (stronger|taller|bigger).
* By the end of summer, it was the (finest|biggest|best) {plant} {place.at}.
* {Hero} {glad} with joy and thanked {friend} for the help.
| "We did it, {friend}!" said {hero}, and {he} {glad} with joy.
* And every year, {hero} and {friend} have a picnic {place.at} beside the {plant}.
| {Hero} and {friend} sat down beside the {plant} and felt very proud.

plot learn hero:people friend:people!hero place:places skill:skills
* <open>
* {He} wanted to {skill} more than anything.
| {He} had one big wish. {He} wanted to {skill}.
* <day>, {he} <went> to the {place} to try it, but {he} {skill.oops}.
| <day>, {he} tried to {skill} {place.at}, but {he} {skill.oops}.
* {He} tried again, and again {he} {skill.oops}.
| The second time was no better.
* "I will never learn to {skill}," {he} (cried|sighed).
| {Hero} was ready to give up.
* {friend.Full} saw it and (came over|sat down beside {him}).
| {His} friend {friend.full} (came over|sat down beside {him}).
* "I could not {skill} at first either," said {friend}. "Let me show you how."
| "Do not give up," said {friend}. "I will help you to {skill}."
* {Friend} showed {him} what to do, and they practiced {place.at} every day.
| Every day they met {place.at}, and {friend} taught {him} (slowly|step by step).
* And then, one (day|morning|evening), {hero} {skill.did} all alone!
| At last {hero} {skill.did} without any help!
* "Look, {friend}, I am {skill.doing}!" {he} shouted, and {he} {glad} with joy.
| "Hooray, {hero}, you are {skill.doing}!" {friend} shouted, and {hero} {glad} with joy.
* Now {hero} and {friend} love {skill.doing} {place.at} together.
| Since then, {hero} and {friend} meet {place.at} to {skill} together.

plot meet hero:people friend:people!hero place:places game:games
* <open>
* {He} liked to {game}, but {he} had nobody to {game} with.
| {He} often felt lonely, because {game.playing} alone is no fun.
* <day>, {he} <went> to the {place} and saw (someone new|a new face).
| <day>, someone new came to the {place}.
* It was {friend.full}, who (had just moved there|stood all alone|did not know anybody).
* {Hero} felt shy and hid behind a (tree|rock).
| {Hero} felt too shy to speak and looked at the ground.
* But {friend} looked lonely too, so {hero} took a deep breath.
| Then {he} thought, "{Friend} must be lonely too."
* "Hello, I am {hero}," {he} said. "Do you want to {game}?"
| "My name is {hero}," {he} said. "Shall we {game}?"
* {Friend} (smiled|nodded). "Yes! I love {game.playing}!"
| "I would love to {game}!" said {friend}.
* They had fun {game.playing} until (dark|sunset|supper).
| All (day|afternoon) they were {game.playing} and laughing {place.at}.
* <glad>
* From then on, {hero} and {friend} met {place.at} every day, and {he} was never lonely again.
| After that, {hero} was never lonely {place.at} again, because {friend} was there.

plot bedtime hero:people friend:people!hero place:places game:games worry:worries parent:parents
* <open>
* All day long, {he} had fun {game.playing} {place.at} with {friend.full}.
| {He} and {friend.full} had spent the whole day {game.playing} {place.at}.
* At night {he} was tired, but {he} could not sleep.
| Now it was bedtime, but {hero} was wide awake.
* {worry.Was}.
* {He} turned to the left and {he} turned to the right, but it was no use.
| {He} counted (sheep|stars), but it did not help.
* {His} {parent} looked in. "Are you still awake, {hero}?"
| "I cannot sleep," {he} called to {his} {parent}.
* So {his} {parent} {worry.gave} and (kissed {him} on the nose|tucked {him} in|hugged {him}).
* (Now|At once|Soon) everything was {worry.now}.
| "Is that better?" asked {his} {parent}. Yes, everything was {worry.now}.
* "Can I {game} with {friend} tomorrow?" {hero} (yawned|whispered).
* "Yes, {friend} will wait for you {place.at}," said {his} {parent}.
| "Yes, my dear," said {his} {parent}. "Good night, {hero}."
* {Hero} closed {his} eyes and dreamed of {game.playing} {place.at} with {friend}.
| Soon {hero} was fast asleep and dreamed that {friend} came to the {place} to {game}.
)grammar";

}  // namespace loom::stories

// The plots. In each, a wish or a trouble has a cause, the attempt answers it, and the ending comes back to the name, the
// thing and the place. Pronouns are always the hero's; everyone else goes by name, so that who is meant is never in doubt.
#include "stories/grammar.h"

namespace loom::stories {

const std::string_view kPlots = R"grammar(
plot lost hero:people friend:people!hero place:places toy:toys color:colors spot:spots
* <open>
* {His} (favorite|best|dearest) toy was {a color} {toy}.
| {He} had {a color} {toy} that {he} (loved very much|took everywhere|would not trade for anything).
| {He} loved {his} {color} {toy} more than (anything|cake|all the stars).
* <day>, {he} took the {toy} to the {place} and left it {spot}.
| <day>, {he} fell asleep {place.at} and left the {toy} {spot}.
| <day>, {he} put the {toy} {spot} {place.at} and ran after a (butterfly|bee|dragonfly).
* (That evening|At supper|At bedtime|Back at home), {hero} saw that the {toy} was gone.
| When {hero} came home, the {toy} was not there.
* "Oh no, where is my {toy}?" {he} (cried|sobbed|wailed).
| A big tear rolled down {his} (cheek|nose).
| {He} felt so sad that {he} could not (eat|sleep|smile).
* {His} friend {friend.full} (came to help|came over at once|heard the news).
* "Where did you (have it last|play today|see it last)?" asked {friend}.
| "Let us think," said {friend}. "Where did you (go|play) today?"
* "{place.At}!" said {hero}.
| {Hero} thought (hard|for a while) and remembered the {place}.
* They (ran|hurried|raced) to the {place}, looked {spot.the}, and there was the {toy}!
| They searched the {place} and found the {toy} {spot.the}.
| Together they went to the {place}, and the {toy} was still {spot.the}.
* {Hero} hugged the {toy} and {glad} with joy.
| "Thank you, {friend}!" said {hero}, and {he} {glad} with joy.
* (From that day on|After that), {hero} never left {his} {color} {toy} {place.at} again.
| (From that day on|After that), {hero} always carried {his} {color} {toy} home from the {place}.

plot weather hero:people friend:people!hero place:places game:games weather:weather parent:parents
* <open>
* <day>, {he} <went> to the {place} with {his} friend {friend.full} to {game}.
| <day>, {he} and {his} friend {friend.full} <went> to the {place} to {game}.
| <day>, {his} friend {friend.full} asked {him} to {game} {place.at}, and {he} said yes.
* (Suddenly|All at once|But then|After a while), {weather}.
| They had just begun when {weather}.
* (Soon|In no time), {hero} was {weather.made}.
| "Oh dear," said {hero}. "Now I am {weather.made}!"
* "(Quick, come|Come|Let us run) to my house!" (said|called|cried) {friend}.
| {Friend} took {his} hand and said, "Come home with me."
* They (ran|hurried|raced) all the way from the {place} to {friend}'s house.
| They left the {place} and ran to {friend}'s house as fast as they could.
* There, {friend}'s {parent} gave {hero} {weather.gave}.
| {Friend}'s {parent} met them at the door and gave {hero} {weather.gave}.
* (Before long|Soon after|A little later), {hero} was {weather.now} and happy again.
| "Now I am {weather.now} again," {hero} (laughed|sighed|said).
? They told (jokes|stories|riddles) by the window and waited.
* The next day there was no more {weather.name}, and {hero} and {friend} could {game} {place.at} after all.
| When the {weather.name} was over, {hero} and {friend} went back to the {place} to {game}.

plot high hero:people helper:tall place:places thing:flyers color:colors perch:perches
* <open>
* {He} had {a color} {thing} and was very proud of it.
| {He} (loved|liked) to run about with {his} {color} {thing}.
| For {his} birthday, {he} got {a color} {thing}.
* <day>, {he} took the {thing} to the {place}.
| <day>, {he} <went> to the {place} with the {thing}.
* (Whoosh! The|A gust of|Suddenly the) wind blew the {thing} {perch}.
| The wind puffed and puffed and carried the {thing} {perch}.
* {Hero} jumped and jumped, but {perch.the} was too high.
| {Hero} tried to climb after it, but {perch.the} was too high.
| {Hero} stood on the tips of {his} toes, but {perch.the} was too high.
* "My poor {thing}!" {he} (cried|sighed|said).
| "I will never get my {thing} back," {he} (cried|sighed|said).
| {He} sat down and (sniffed|sighed|cried) a little.
* (Just then|A moment later), {helper.full} came along.
| Then {hero} saw {helper.full} and had an idea.
* "{Helper}, you are so tall! Can you (please help|help) me?" asked {hero}.
| "Please, {helper}, can you reach my {thing}?" asked {hero}.
* "Of course," said {helper}, and with {helper.with} the {helper.kind} (lifted|took) the {thing} down from {perch.the}.
| With {helper.with}, {helper} the {helper.kind} (lifted|took) the {thing} down from {perch.the}. "Here you are!"
* {Hero} {glad} with joy.
| {Hero} was so happy that {he} {glad}.
* "Thank you, {helper}!" {he} said, and all day they played {place.at} with the {color} {thing}.
| Now when {hero} takes the {color} {thing} to the {place}, {helper} always comes too.
| From then on, {hero} and {helper} met {place.at} every day, and the {color} {thing} was always with them.

plot share hero:people friend:people!hero place:places food:foods mishap:mishaps parent:parents
* <open>
* <day>, {his} {parent} (made|baked) {a food} for {him}, and {he} took it to the {place}.
| <day>, {he} <went> to the {place} with {a food} from {his} {parent}.
| {His} {parent} gave {him} {a food}, and {he} carried it to the {place} to eat it there.
* There {he} (met|saw|found) {friend.full}, who looked (sad|unhappy|gloomy).
| {friend.Full} sat there and looked (sad|unhappy|gloomy).
* "What is (wrong|the matter), {friend}?" asked {hero}.
| "Why are you so (sad|quiet), {friend}?" asked {hero}.
* "{mishap.Lunch}," said {friend}, "and now I am (very|so) hungry."
| "I am hungry because {mishap}," said {friend}.
| "I am (hungry|so hungry)," said {friend}. "{mishap.Lunch}."
* {Hero} looked at the {food}. It was not very big, but {friend} was {his} friend.
| {Hero} was very fond of the {food}, but even more fond of {friend}.
* So {he} broke the {food} in two and gave {friend} the bigger half.
| "We can share my {food}," {he} said, and gave {friend} half of it.
* They sat {place.at} side by side and ate up every crumb.
| Side by side they ate the {food}, and it had never tasted so good.
* {Friend} laughed and forgot all about {mishap.the}.
| Soon {friend} was not thinking of {mishap.the} any more.
* "{a Food} is best when you share it," said {hero}, and {friend} {friend.glad} {place.at}.
| The next day {friend} came to the {place} with {a food} for {hero}.

plot bake hero:people friend:people!hero place:places dish:dishes parent:parents
* <open>
* <day>, {he} wanted to make {a dish} for {his} {parent}.
| {His} {parent}'s birthday was near, and {he} wanted to make {a dish}.
| <day>, {he} said, "I will (surprise|cheer up) my {parent} with {a dish}."
* {He} put on {his} apron, but there {dish.none} in the kitchen.
| {He} looked in every cupboard, but there {dish.none}.
* "No {dish.need}, no {dish}!" {he} (sighed|said).
| "I cannot make {a dish} without {dish.need}," {he} (sighed|said).
* So {he} <went> to the {place} to ask {friend.full} for help.
| So {he} took a basket and <went> to {friend.full}, who was {place.at}.
* "{Friend}, may I have some {dish.need}, please?" {he} asked.
| "Hello, {friend}, do you have some {dish.need} for me?" {he} asked.
* "Of course," said {friend}. "Take all the {dish.need} you want. I will help you."
| {Friend} gave {him} a big bowl of {dish.need} and came along to help.
* {Hero} and {friend} washed their hands and (mixed|stirred) and sang.
| {Hero} (mixed|stirred), and {friend} tasted, and they sang a (silly|happy) song.
* Soon the {dish} was ready, and it smelled wonderful.
| Soon the whole house smelled of {dish}.
* {His} {parent} took a bite and smiled. "What a lovely {dish}!"
| "This is the best {dish} in the world!" said {his} {parent}.
* {Hero} {glad} with joy, and they all ate together near the {place}.
| {Hero} {glad} with joy and took the last piece to the {place} for {friend}.

plot noise hero:people place:places noise:noises toy:toys color:colors parent:parents
* <open>
* One (dark|cold|windy|stormy) night, {he} lay in bed and heard a {noise}.
| One night, {he} woke up because there was a {noise}.
* "What is that?" {he} whispered.
| "Who is there?" {he} asked, but nobody answered.
| {His} heart went thump, thump, thump.
* {He} (hid under|pulled up) the blanket and held {his} {color} {toy} (tight|very close).
| {He} (hugged|squeezed) {his} {color} {toy} under the blanket.
* The {noise} came again, and {hero} called for {his} {parent}.
| There was the {noise} again! {Hero} called for {his} {parent}.
* {His} {parent} came in with a (candle|lamp) and sat down on the bed.
| {His} {parent} came at once and lit a (candle|lamp).
* "Let us (find out what it is|be brave and look)," said {his} {parent}.
| "We will (find out what it is|look together)," said {his} {parent}.
* Hand in hand they (tiptoed|crept) through the house with the {toy}.
| They (listened|looked) here and they (listened|looked) there.
* It was only {noise.source}!
| And what did they find? It was just {noise.source}!
* {Hero} (laughed|giggled) and was not afraid any more.
| "So that was the {noise}!" {hero} (laughed|giggled).
* {He} put the {color} {toy} on {his} pillow, and all was quiet near the {place}.
| Soon {hero} and the {color} {toy} were fast asleep in the house near the {place}.
| Then {he} fell asleep and dreamed of taking the {color} {toy} to the {place}.

plot broken hero:people friend:people!hero place:places loan:loans color:colors repair:repairs
* <open>
* <day>, {friend.full} let {him} borrow {a color} {loan}.
| <day>, {he} asked {friend.full}, "May I borrow your {color} {loan}?" {Friend} said yes.
* "Please be careful with my {loan}," said {friend}.
| "Take good care of my {loan}," said {friend}.
* But {hero} ran too fast {place.at} and tripped over a (root|stone|stick).
| But {hero} (skipped|hopped) about {place.at} and did not look where {he} was going.
* Crash! The {loan} fell down and broke.
| Bump! Down fell {hero}, and the {loan} broke.
* {Hero} wanted to hide it, but that did not feel right.
| {He} felt (awful|terrible), and {his} ears turned hot.
* {He} took the {loan} back and said, "I am sorry, {friend}. I broke it because I was not careful."
| "{Friend}, I (ran too fast|was not careful) and broke your {loan}," {he} said. "I am very sorry."
* {Friend} was sad at first. "Thank you for telling me the truth," said {friend}.
| "I am glad that you told me the truth," said {friend}.
* They found {repair} and (carefully|slowly) {repair.did} it together.
| {Hero} brought {repair}, and together they {repair.did} the {color} {loan}.
* Soon the {loan} was as good as new.
| When they were done, the {loan} looked better than before.
* {Hero} {glad} with joy, and the two friends walked to the {place} with the {color} {loan}.
| After that, {hero} always walked slowly {place.at} when {he} carried {friend}'s {color} {loan}.

plot gift hero:people friend:people!hero place:places gift:gifts color:colors
* <open>
* {His} (best|dear|good) friend was {friend.full}, and tomorrow was {friend}'s birthday.
| Tomorrow was the birthday of {his} (best|dear|good) friend {friend.full}.
* {Hero} had no (money|coins) for a present, so {he} was (sad|worried).
| "What can I give to {friend}?" {he} (wondered|asked). "I have no (money|coins)."
* {He} took a walk to the {place} to think.
| {He} <went> to the {place} to think about it.
* There {he} saw {gift.stuff} all around, and {he} had an idea.
| There were {gift.stuff} everywhere. "I know!" said {hero}.
* {He} (gathered|picked up) the best {gift.stuff} and worked until (dark|sunset|bedtime).
| {He} filled a bag with {gift.stuff}, sat down, and worked until (dark|sunset|bedtime).
* {He} made {a gift} out of {gift.stuff} and tied it with {a color} bow.
| With care {he} turned the {gift.stuff} into {a gift}. It had {a color} bow.
* The next (day|morning), {friend} opened the box and (gasped|smiled).
| At the party, {friend} untied the {color} bow and (gasped|smiled).
* "{a Gift}! Did you make it (yourself|for me)?" asked {friend}.
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
| Soon a tiny sprout came up. "Hello, little {plant}!" said {hero}.
* {trouble.Was}, and the little {plant} began to droop.
| But then the {plant} began to droop. {trouble.Was}.
* "My {plant} is sick!" {he} (cried|said). "What can I do?"
| {Hero} was (worried|afraid) that the {plant} would die.
* {Friend} had a (good|clever) idea, so {hero} {trouble.fix}.
| {He} asked {friend} for advice, and then {he} {trouble.fix}.
* Day after day the {plant} grew (stronger|taller|bigger).
| Slowly, slowly the {plant} grew (strong|tall|big) again.
* By the end of summer, it was the (finest|biggest|best) {plant} {place.at}.
| At last it was the (finest|biggest|best) {plant} anyone had seen {place.at}.
* {Hero} {glad} with joy and thanked {friend} for the help.
| "We did it, {friend}!" said {hero}, and {he} {glad} with joy.
? Everyone came to look at it.
* And every year, {hero} and {friend} have a picnic {place.at} beside the {plant}.
| {Hero} and {friend} sat down beside the {plant} and felt very proud.

plot learn hero:people friend:people!hero place:places skill:skills
* <open>
* {He} wanted to {skill} more than anything.
| {He} had one big wish. {He} wanted to {skill}.
* <day>, {he} <went> to the {place} to try it.
| <day>, {he} tried to {skill} {place.at}.
* But {he} {skill.oops}.
| "This looks easy," {he} said, but {he} {skill.oops}.
* {He} tried again, and again {he} {skill.oops}.
| The second time was no better, for {he} {skill.oops}.
* "I will never learn to {skill}," {he} (cried|sighed|said).
| {Hero} was ready to give up.
* {friend.Full} saw it and (came over|sat down beside {him}).
| {His} friend {friend.full} (came over|sat down beside {him}).
* "I could not {skill} at first either," said {friend}. "Let me show you how."
| "Do not give up," said {friend}. "I will help you to {skill}."
* {Friend} showed {him} what to do, and they practiced {place.at} every day.
| Every day they met {place.at}, and {friend} taught {him} (slowly|patiently|step by step).
* And then, one (day|morning|evening), {hero} {skill.did} all alone!
| At last {hero} {skill.did} without any help!
* "Look, {friend}, I am {skill.doing}!" {he} shouted, and {he} {glad} with joy.
| "Hooray, {hero}, you are {skill.doing}!" {friend} shouted, and {hero} {glad} with joy.
* Now {hero} and {friend} love {skill.doing} {place.at} together.
| Since then, {hero} and {friend} meet {place.at} to {skill} together.

plot meet hero:people friend:people!hero place:places game:games toy:toys color:colors
* <open>
* {He} liked to {game}, but {he} had nobody to {game} with.
| {He} often felt lonely, because {game.playing} alone is no fun.
* <day>, {he} took {his} {color} {toy} and <went> to the {place}.
| <day>, {he} sat {place.at} with {his} {color} {toy}.
* There {he} saw (someone new|a new face). It was {friend.full}, who had just moved there.
| {friend.Full} had just moved there and stood all alone.
* {Hero} felt shy and hid behind the {toy}.
| {Hero} felt too shy to speak and looked at {his} {toy}.
* But {friend} looked lonely too, so {hero} took a deep breath.
| Then {he} thought, "{Friend} must be lonely too."
* "Hello, I am {hero}," {he} said. "Do you want to {game}?"
| "My name is {hero}," {he} said. "Shall we {game}?"
* {Friend} (smiled|nodded). "Yes! I love {game.playing}!"
| "I would love to {game}!" said {friend}.
* They had fun {game.playing} until (dark|sunset|supper).
| All (day|afternoon) they were {game.playing} and laughing {place.at}.
* {Hero} even let {friend} hold the {color} {toy}, and {friend} {friend.glad} with joy.
| {Hero} {glad} with joy and let {friend} hold the {color} {toy}.
* From then on, {hero} and {friend} met {place.at} every day, and neither was lonely again.
| After that, {hero} was never lonely {place.at} again, because {friend} was there.

plot bedtime hero:people friend:people!hero place:places game:games worry:worries parent:parents
* <open>
* All day long, {he} had fun {game.playing} {place.at} with {friend.full}.
| {He} and {friend.full} had spent the whole day {game.playing} {place.at}.
* At night {he} was tired, but {he} could not sleep.
| Now it was bedtime, but {hero} was wide awake.
* {worry.Was}.
* {He} turned to the left and {he} turned to the right, but it was no use.
| {He} counted (sheep|stars|clouds), but it did not help.
* "I cannot sleep," {he} called to {his} {parent}. "{worry.Was}."
| {His} {parent} looked in. "Are you still awake, {hero}?"
* {His} {parent} {worry.gave} and (kissed {him} on the nose|tucked {him} in|hugged {him}).
| So {his} {parent} smiled, sat down on the bed, and {worry.gave}.
* (Now|At once|Soon) everything was {worry.now}.
| "Is that better?" asked {his} {parent}. Yes, everything was {worry.now}.
* "Tomorrow I want to {game} with {friend} again," {hero} (yawned|whispered|mumbled).
| "Can I {game} with {friend} tomorrow?" {hero} (yawned|whispered|mumbled).
* "Yes, {friend} will wait for you {place.at}," said {his} {parent}. "Good night, {hero}."
| "Yes, my dear," said {his} {parent}. "Good night, {hero}."
* {Hero} closed {his} eyes and dreamed of {game.playing} {place.at} with {friend}.
| Soon {hero} was fast asleep and dreamed that {friend} came to the {place} to {game}.
)grammar";

}  // namespace loom::stories

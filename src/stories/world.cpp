// The world of the stories: who lives there, where, with what things, and the wordings that plots
// share. A person's kind and pronouns belong to the name, so they are the same in every story.
#include "stories/grammar.h"

namespace loom::stories {

const std::string_view kWorld = R"grammar(
table people name full kind he him his glad
Pip | Pip the rabbit | rabbit | he | him | his | hopped
Benny | Benny the bear | bear | he | him | his | danced
Toby | Toby the turtle | turtle | he | him | his | clapped
Max | Max the puppy | puppy | he | him | his | barked
Oscar | Oscar the owl | owl | he | him | his | clapped
Finn | Finn the fox | fox | he | him | his | danced
Hugo | Hugo the hedgehog | hedgehog | he | him | his | laughed
Freddy | Freddy the frog | frog | he | him | his | hopped
Leo | Leo the lion | lion | he | him | his | danced
Monty | Monty the mouse | mouse | he | him | his | squeaked
Sammy | Sammy the squirrel | squirrel | he | him | his | jumped
Otto | Otto the otter | otter | he | him | his | danced
Percy | Percy the penguin | penguin | he | him | his | clapped
Gus | Gus the goat | goat | he | him | his | jumped
Felix | Felix the kitten | kitten | he | him | his | purred
Bella | Bella the rabbit | rabbit | she | her | her | hopped
Daisy | Daisy the duck | duck | she | her | her | quacked
Cleo | Cleo the kitten | kitten | she | her | her | purred
Molly | Molly the mouse | mouse | she | her | her | squeaked
Ruby | Ruby the robin | robin | she | her | her | sang
Penny | Penny the pig | pig | she | her | her | danced
Maple | Maple the bear | bear | she | her | her | danced
Willow | Willow the deer | deer | she | her | her | jumped
Poppy | Poppy the puppy | puppy | she | her | her | barked
Olive | Olive the owl | owl | she | her | her | clapped
Pearl | Pearl the penguin | penguin | she | her | her | clapped
Ivy | Ivy the fox | fox | she | her | her | danced
Tom | Tom | boy | he | him | his | laughed
Sam | Sam | boy | he | him | his | clapped
Ben | Ben | boy | he | him | his | laughed
Noah | Noah | boy | he | him | his | clapped
Mia | Mia | girl | she | her | her | laughed
Lily | Lily | girl | she | her | her | laughed
Rosie | Rosie | girl | she | her | her | clapped
Emma | Emma | girl | she | her | her | laughed
Nora | Nora | girl | she | her | her | laughed

table tall name full kind with
Gerald | Gerald the giraffe | giraffe | a very long neck
Ellie | Ellie the elephant | elephant | a long, long trunk
Bruno | Bruno the gorilla | gorilla | one long arm

table parents name
mother
father
grandmother
grandfather

table places name at
park | in the park
meadow | in the meadow
forest | in the forest
garden | in the garden
beach | at the beach
pond | by the pond
river | by the river
lake | by the lake
hill | on the hill
farm | on the farm
mill | by the mill
bridge | by the bridge

table colors name
red
blue
green
yellow
pink
gray
white

table toys name
ball
doll
drum
teddy bear
train
boat
wagon
robot
crown
flute

table spots a the
under a bench | under the bench
behind a bush | behind the bush
on a rock | on the rock
under a tree | under the tree
next to a gate | next to the gate

table weather came made gave now name
it began to rain | very wet | a soft towel | dry | rain
it began to snow | very cold | a cup of hot soup | warm | snow
a cold wind came | very cold | a warm blanket | warm | wind
a big storm came | very afraid | a big hug | brave | storm
the sun got too hot | very thirsty | a cup of water | cool | heat

table games play playing
play tag | playing tag
play ball | playing ball
pick berries | picking berries
pick flowers | picking flowers
build a fort | building a fort
jump rope | jumping rope
look for snails | looking for snails
blow bubbles | blowing bubbles

table flyers name
kite
balloon
hat
scarf
feather
flag

table perches up the
into a tall tree | the tree
onto a high wall | the wall
onto a tall roof | the roof
onto a big rock | the rock

table foods name
honey cake
apple pie
cheese sandwich
berry pie
carrot cake
egg sandwich
nut cake

table mishaps lunch the
a crow took my lunch | the crow
a goose ate my lunch | the goose
a goat ate my lunch | the goat
my lunch fell into the mud | the mud
my lunch fell into the water | the water

table noises name source
tapping noise | a branch at the window
howling noise | the wind at the door
dripping noise | the rain on the roof
squeaking noise | the old gate
croaking noise | a toad in the grass
snoring noise | the cat under the bed

table loans name
drum
sled
wagon
lamp
clock
flute
boat
kite

table repairs some did
glue | glued
string | tied
tape | taped

table gifts name stuff
necklace | pebbles
crown | flowers
pillow | feathers
basket | twigs
hat | leaves
ring | berries

table plants name seed
pumpkin | a pumpkin seed
sunflower | a sunflower seed
melon | a melon seed
apple tree | an apple seed
berry bush | a berry seed

table troubles was fix
the ground was too dry | gave it water every day
the nights were too cold | covered it with leaves
hungry snails came | put pebbles around it
a strong wind bent it | tied it to a stick
weeds grew around it | pulled out the weeds

table skills do doing did oops
ride a bike | riding a bike | rode the bike | fell into a bush
whistle | whistling | whistled | made no sound
climb a rope | climbing a rope | climbed the rope | slid down again
jump rope | jumping rope | jumped rope | fell over the rope
juggle | juggling | juggled | dropped every ball
play the flute | playing the flute | played the flute | made an awful noise

rule nature
* (kind|cheerful|curious|gentle|brave|clever)

rule open
* Once upon a time, a (little|small|young) {kind} named {hero} lived near the {place}.
| A <nature> {kind} named {hero} lived near the {place}.
| In a (tiny|cozy|little) house near the {place} lived {a kind} named {hero}.
| {Hero} was a <nature> little {kind} who lived near the {place}.
| Near the {place} lived a <nature> {kind} named {hero}.

rule day
* One (sunny|bright|fine|quiet) (morning|day|afternoon)
| One day
| Early one morning

rule went
* (went|walked|ran|hurried)

rule joy
* {Hero} {glad} with joy.
| {Hero} was so happy that {he} {glad}.
)grammar";

}  // namespace loom::stories

// The world of the stories: who lives there, where, with what things, and the wordings that plots share.
// A person's kind and pronouns belong to the name, so they are the same in every story.
#include "stories/grammar.h"

namespace loom::stories {

const std::string_view kWorld = R"grammar(
table people name full kind he him his glad
Pip | Pip the rabbit | rabbit | he | him | his | hopped
Benny | Benny the bear | bear | he | him | his | danced
Toby | Toby the turtle | turtle | he | him | his | smiled
Max | Max the puppy | puppy | he | him | his | barked
Oscar | Oscar the owl | owl | he | him | his | hooted
Finn | Finn the fox | fox | he | him | his | danced
Hugo | Hugo the hedgehog | hedgehog | he | him | his | giggled
Freddy | Freddy the frog | frog | he | him | his | hopped
Leo | Leo the lion | lion | he | him | his | roared
Monty | Monty the mouse | mouse | he | him | his | squeaked
Sammy | Sammy the squirrel | squirrel | he | him | his | jumped
Otto | Otto the otter | otter | he | him | his | rolled
Percy | Percy the penguin | penguin | he | him | his | clapped
Gus | Gus the goat | goat | he | him | his | jumped
Felix | Felix the kitten | kitten | he | him | his | purred
Bella | Bella the rabbit | rabbit | she | her | her | hopped
Daisy | Daisy the duck | duck | she | her | her | quacked
Cleo | Cleo the kitten | kitten | she | her | her | purred
Molly | Molly the mouse | mouse | she | her | her | squeaked
Ruby | Ruby the robin | robin | she | her | her | sang
Penny | Penny the pig | pig | she | her | her | squealed
Maple | Maple the bear | bear | she | her | her | danced
Willow | Willow the deer | deer | she | her | her | skipped
Poppy | Poppy the puppy | puppy | she | her | her | barked
Olive | Olive the owl | owl | she | her | her | hooted
Pearl | Pearl the penguin | penguin | she | her | her | clapped
Ivy | Ivy the fox | fox | she | her | her | danced
Tom | Tom | boy | he | him | his | laughed
Sam | Sam | boy | he | him | his | cheered
Ben | Ben | boy | he | him | his | laughed
Noah | Noah | boy | he | him | his | clapped
Mia | Mia | girl | she | her | her | giggled
Lily | Lily | girl | she | her | her | laughed
Rosie | Rosie | girl | she | her | her | clapped
Emma | Emma | girl | she | her | her | laughed
Nora | Nora | girl | she | her | her | giggled

table tall name full kind with
Gerald | Gerald the giraffe | giraffe | a very long neck
Ellie | Ellie the elephant | elephant | a long gray trunk
Stella | Stella the stork | stork | a long orange beak
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
orange
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
beside a log | beside the log
on a rock | on the rock
under an oak tree | under the oak tree
next to a gate | next to the gate

table weather came made gave now name
it began to rain | very wet | a soft towel | dry | rain
it began to snow | very cold | a cup of hot cocoa | warm | snow
a cold wind came | very cold | a warm blanket | warm | wind
a big storm came | very afraid | a long hug | calm | storm
the path turned into mud | very muddy | a hot bath | clean | mud
the sun grew too hot | very thirsty | a cup of cold water | cool | heat

table games play playing
play tag | playing tag
play ball | playing ball
pick berries | picking berries
pick flowers | picking flowers
build a fort | building a fort
jump rope | jumping rope
look for snails | looking for snails
have a picnic | having a picnic
blow bubbles | blowing bubbles

table flyers name
kite
balloon
hat
scarf
ribbon
paper plane
feather
flag

table perches up the
into a tall tree | the tree
onto a high wall | the wall
onto a steep roof | the roof
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
ants ate my lunch | the ants
my lunch fell into the mud | the mud
my lunch fell into the water | the water

table noises name source
tapping noise | a branch at the window
hooting noise | an old owl in the tree
scratching noise | a beetle in a box
howling noise | the wind at the door
dripping noise | the rain on the roof
squeaking noise | the old gate
croaking noise | a fat toad in the grass
snoring noise | the cat under the bed

table loans name
drum
sled
wagon
lamp
clock
flute
teapot
kite
basket

table repairs some did
some glue | glued
some string | tied
some tape | taped

table gifts name stuff
necklace | pebbles
crown | flowers
pillow | feathers
bracelet | nuts
ring | berries
basket | twigs
hat | leaves

table plants name seed
pumpkin | a pumpkin seed
sunflower | a sunflower seed
melon | a melon seed
beanstalk | a bean
oak tree | an acorn
apple tree | an apple seed

table troubles was fix
The ground was too dry | gave it water every day
The nights were too cold | covered it with straw
Hungry snails came | put a ring of pebbles around it
A strong wind came | tied it to a stick
Weeds grew all around it | pulled out the weeds

table skills do doing did oops
swim | swimming | swam | sank like a stone
skate | skating | skated | slipped and sat down hard
ride a bike | riding a bike | rode the bike | fell into a bush
whistle | whistling | whistled | made no sound
climb a rope | climbing a rope | climbed the rope | slid down to the ground
juggle | juggling | juggled | dropped every ball
row a boat | rowing a boat | rowed the boat | went around in circles
dive | diving | dived | landed with a splash

rule nature
* (kind|cheerful|curious|gentle|brave|clever)

rule open
* Once upon a time, a (little|small|young) {kind} named {hero} lived near the {place}.
| A <nature> {kind} named {hero} lived near the {place}.
| In a (tiny|cozy|little) house near the {place} lived a {kind} named {hero}.
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

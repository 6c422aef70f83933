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
Basil | Basil the badger | badger | he | him | his | danced
Dexter | Dexter the duck | duck | he | him | his | quacked
Felix | Felix the kitten | kitten | he | him | his | purred
Bella | Bella the rabbit | rabbit | she | her | her | hopped
Daisy | Daisy the duck | duck | she | her | her | quacked
Cleo | Cleo the kitten | kitten | she | her | her | purred
Molly | Molly the mouse | mouse | she | her | her | squeaked
Hazel | Hazel the squirrel | squirrel | she | her | her | jumped
Ruby | Ruby the robin | robin | she | her | her | sang
Lulu | Lulu the lamb | lamb | she | her | her | skipped
Penny | Penny the pig | pig | she | her | her | squealed
Maple | Maple the bear | bear | she | her | her | danced
Willow | Willow the deer | deer | she | her | her | skipped
Tilly | Tilly the turtle | turtle | she | her | her | smiled
Poppy | Poppy the puppy | puppy | she | her | her | barked
Olive | Olive the owl | owl | she | her | her | hooted
Fern | Fern the frog | frog | she | her | her | hopped
Pearl | Pearl the penguin | penguin | she | her | her | clapped
Ivy | Ivy the fox | fox | she | her | her | danced
Hattie | Hattie the hedgehog | hedgehog | she | her | her | giggled
Tom | Tom | boy | he | him | his | laughed
Sam | Sam | boy | he | him | his | cheered
Ben | Ben | boy | he | him | his | laughed
Jack | Jack | boy | he | him | his | cheered
Noah | Noah | boy | he | him | his | clapped
Theo | Theo | boy | he | him | his | giggled
Eli | Eli | boy | he | him | his | laughed
Mia | Mia | girl | she | her | her | giggled
Lily | Lily | girl | she | her | her | laughed
Anna | Anna | girl | she | her | her | cheered
Rosie | Rosie | girl | she | her | her | clapped
Emma | Emma | girl | she | her | her | laughed
Nora | Nora | girl | she | her | her | giggled
Zoe | Zoe | girl | she | her | her | cheered

table tall name full kind with
Gerald | Gerald the giraffe | giraffe | a very long neck
Ellie | Ellie the elephant | elephant | a long gray trunk
Stella | Stella the stork | stork | a long orange beak
Moses | Moses the moose | moose | two great antlers
Bruno | Bruno the gorilla | gorilla | one strong arm
Clara | Clara the camel | camel | a long woolly neck

table parents name
mother
father
grandmother
grandfather
aunt
uncle

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
orchard | in the orchard
farm | on the farm
village | in the village
valley | in the valley
mill | by the mill
bridge | by the bridge

table colors name
red
blue
green
yellow
pink
orange
purple
white

table toys name
ball
doll
kite
drum
teddy bear
toy train
wooden boat
rag doll
whistle
top
puppet
tiny wagon
paper crown
marble
robot
toy horse

table spots a the
under a bench | under the bench
behind a bush | behind the bush
beside a log | beside the log
on a flat rock | on the flat rock
under an oak tree | under the oak tree
next to a gate | next to the gate
inside a hollow stump | inside the hollow stump
near a haystack | near the haystack

table weather came made gave now name
it began to rain | soaking wet | a soft towel | dry | rain
it began to snow | as cold as ice | a cup of hot cocoa | warm | snow
a cold wind began to blow | cold and shivery | a woolly blanket | warm | wind
a big storm began | very frightened | a long hug | calm | storm
the path turned into mud | muddy all over | a bubbly bath | clean | mud
the sun grew very hot | hot and thirsty | a glass of lemonade | cool | heat

table games play playing
play tag | playing tag
play hide and seek | playing hide and seek
pick berries | picking berries
catch butterflies | catching butterflies
build a fort | building a fort
jump rope | jumping rope
paint pictures | painting pictures
look for snails | looking for snails
have a tea party | having a tea party
roll down the grass | rolling down the grass
blow bubbles | blowing bubbles
pick flowers | picking flowers

table flyers name
kite
balloon
straw hat
scarf
ribbon
paper plane
handkerchief
feather
cap
flag

table perches up the
up into a tall tree | the tree
onto a high wall | the wall
onto a steep roof | the roof
up onto a tall post | the post
onto a huge rock | the rock

table foods name
honey cake
apple pie
cheese sandwich
plum cake
berry tart
carrot cake
jam roll
nut pie
egg sandwich
pear tart
corn muffin
onion pie

table mishaps lunch the
a crow stole my lunch | the crow
ants ate my lunch | the ants
a goat ate my lunch | the goat
my lunch fell into the mud | the mud
my lunch fell into a puddle | the puddle
a fish pulled my lunch into the water | the fish

table dishes name need none
honey cake | honey | was no honey
apple pie | apples | were no apples
loaf of bread | flour | was no flour
pot of carrot soup | carrots | were no carrots
jar of plum jam | plums | were no plums
berry tart | berries | were no berries
cheese pizza | cheese | was no cheese
rice pudding | milk | was no milk
lemon cake | lemons | were no lemons
omelet | eggs | were no eggs

table noises name source
tapping noise | a branch at the window
hooting noise | an old owl in the tree
scratching noise | a beetle in a box
howling noise | the wind in the chimney
dripping noise | the rain in a bucket
squeaking noise | the rusty gate
croaking noise | a fat toad in the grass
rustling noise | dry leaves on the roof
ticking noise | the new clock in the hall
snoring noise | the cat under the bed

table loans name
drum
sled
wagon
lamp
clock
bucket
umbrella
flute
teapot
mirror
swing
basket

table repairs some did
some glue | glued
some string | tied
some tape | taped
a hammer and nails | nailed
a needle and thread | sewed

table gifts name stuff
necklace | shells
crown | daisies
basket | reeds
boat | bark
pillow | feathers
bracelet | acorns
blanket | moss
lantern | twigs
wreath | pine cones
picture frame | pebbles
bookmark | leaves
garland | roses

table plants seed name
a pumpkin seed | pumpkin
a sunflower seed | sunflower
a melon seed | melon
a tulip bulb | tulip
a bean | beanstalk
a tomato seed | tomato plant
a pea | pea plant
a rose bush | rose bush
an acorn | little oak tree

table troubles was fix
The ground was too dry | watered it every day
The nights were too cold | covered it with straw every night
Hungry snails came | put a ring of shells around it
A strong wind bent it | tied it to a stick
Weeds grew all around it | pulled out all the weeds
A big bush took all its light | cut back the big bush

table skills do doing did oops
swim | swimming | swam | sank and swallowed some water
skate | skating | skated | slipped and sat down hard
ride a bike | riding a bike | rode the bike | tipped over into a hedge
whistle | whistling | whistled | blew and made no sound
climb a rope | climbing a rope | climbed the rope | slid down to the ground
juggle | juggling | juggled | dropped a ball on one toe
row a boat | rowing a boat | rowed the boat | turned in circles
walk on stilts | walking on stilts | walked on the stilts | wobbled and fell into the hay
dive | diving | dived | landed flat with a splash
ski | skiing | skied | rolled down like a snowball

table worries was gave now
The moon was too bright | closed the thick curtains | dark
The bed was too cold | brought a warm quilt | warm
The room was too dark | lit a tiny lamp | bright
The house was too quiet | sang a soft song | full of music
Supper had been too small | brought a bowl of porridge | full of good smells
The pillow was too flat | fluffed up the pillow | soft and cozy

rule nature
* (kind|cheerful|curious|gentle|brave|merry|clever|shy)

rule open
* Once upon a time, there was a (little|small|young) {kind} named {hero} who lived near the {place}.
| Once there was a <nature> {kind} called {hero}, and {his} home was near the {place}.
| A <nature> {kind} named {hero} lived near the {place}.
| In a (tiny|cozy|little) house near the {place} lived a <nature> {kind} named {hero}.
| {Hero} was a <nature> (little|young) {kind} who lived near the {place}.
| Near the {place} there lived a (little|small|young) {kind} whose name was {hero}.

rule day
* One (sunny|bright|fine|lovely|quiet) (morning|day|afternoon)
| On a (sunny|bright|fine|lovely|quiet) (morning|day|afternoon)
| One day
| Early one morning

rule went
* (went|walked|ran|hurried|strolled)
)grammar";

}  // namespace loom::stories

//! Groups of related words: a document says `repository`, the query `repo`.
//!
//! General vocabulary of software and daily life, not tuned to single queries. A related word has a lower weight than
//! the word itself, so a group that is too broad does little harm.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use super::Tokenizer;

/// One group per line; a word may be in several.
const GROUPS: &str = "\
repo repository
config configuration setting settings option preference
db database
dir directory folder
doc docs documentation manual
dep deps dependency
env environment
auth authentication login
credential password secret token key
bug defect error fault issue problem
crash panic abort
exception error
fix repair mend patch
test spec
flaky unstable intermittent
deploy release ship rollout
production prod live
staging preproduction
build compile
server backend
client frontend
api endpoint
function method
class struct type
parameter argument
variable var
library package crate module
lint linter formatter
merge integrate
branch fork
commit checkin
review feedback
pipeline ci workflow
container docker image
kubernetes k8s cluster
cache buffer
log logging trace
monitor observe watch
metric figure measure
alert alarm warning
timeout deadline
latency delay slow slowness
performance speed fast quick
delete remove drop erase
add insert append create
change modify edit update alter
rename move
copy duplicate clone
start begin launch boot
stop end halt finish quit
run execute
schedule cron timetable
queue backlog
encrypt cipher
certificate cert
permission access right
user customer client
admin administrator
team squad crew
meeting call standup
deadline due
ticket issue task todo
decision decide choose chosen pick
requirement requisite need
script program
terminal shell console
editor ide
query search lookup find
column field
table relation
migrate migration
backup snapshot
version release
upgrade update
legacy old
rewrite refactor
reduce decrease shrink lower cut
increase raise grow
avoid prevent
require need must
prefer like favour favor favourite favorite
dislike hate avoid
love enjoy adore like
child kid son daughter toddler
baby infant newborn
parent mother father mom dad mum
mother mom mum
father dad
grandmother grandma granny
grandfather grandpa
sibling brother sister
husband wife spouse partner
marry wedding marriage
divorce breakup separate
relative family aunt uncle cousin
friend buddy pal mate
colleague coworker workmate teammate
boss manager supervisor
employee staff worker
job work career profession occupation
employ hire recruit
fire layoff
salary pay wage income
company firm business
shop store
purchase buy
sell sale
cost price expense
money cash fund
donate donation charity give
house home apartment flat
room bedroom
town city village
country nation state
street road
trip travel journey vacation holiday tour visit
hotel hostel
flight plane airplane
car vehicle automobile auto
bike bicycle cycle
train rail
food meal dish cuisine
breakfast lunch dinner supper
cook bake
restaurant cafe diner
drink beverage
dog puppy pup
cat kitten
pet dog cat animal
animal creature
doctor physician
hospital clinic
ill sick illness disease
hurt injury injure wound
medicine drug medication
exercise workout gym fitness train
sport game
run jog marathon
swim pool
hike trek trail mountain
camp tent campfire
compete competition contest tournament race
win victory prize award trophy
lose loss
team club
music song melody
instrument guitar piano violin
concert gig show performance
dance ballet
art paint painting draw drawing
photo picture photograph image
film movie cinema
book novel read
write author
story tale
school college university
student pupil
teacher instructor tutor coach mentor
study learn education
class course lesson workshop
exam test
degree diploma
church religion faith
party celebration celebrate festival event
birthday anniversary
gift present
clothes clothing outfit dress wear
shoe sneaker boot
jewelry necklace ring bracelet
flower plant garden
tree forest wood
beach sea ocean coast
river lake
weather rain snow storm
happy glad joy joyful pleased
sad unhappy upset
angry mad furious
afraid scared fear
worry anxious anxiety nervous stress
proud pride
tired exhausted
hobby pastime interest activity
goal aim plan dream
hope wish want
idea thought
advice tip suggestion suggest recommend
help support assist aid
volunteer charity
talk speak conversation chat discuss
meet encounter
say tell mention
ask inquire question
answer reply respond response
think believe opinion
remember recall memory
forget forgot
see watch look view
hear listen
make create build
begin start
often frequently
big large huge
small little tiny
important significant vital
difficult hard tough
easy simple
new recent
allow let permit
attend join participate
realize understand
gather collect
receive get
show display
call phone telephone
mail email
website site webpage
computer laptop pc
phone mobile smartphone
internet web online
summer autumn winter spring season
";

pub(super) static RELATED: LazyLock<HashMap<String, Vec<String>>> = LazyLock::new(|| {
    let words = Tokenizer::new();
    let mut related: HashMap<String, Vec<String>> = HashMap::new();
    for group in GROUPS.lines() {
        let stems: Vec<Cow<'_, str>> = group.split(' ').map(|word| words.stem(word)).collect();
        for stem in &stems {
            let others = related.entry(stem.clone().into_owned()).or_default();
            for other in stems.iter().filter(|other| *other != stem) {
                if !others.iter().any(|known| known == other) {
                    others.push(other.clone().into_owned());
                }
            }
        }
    }
    related
});

/// Stems of the words related to this stem.
pub fn related(stem: &str) -> &'static [String] {
    RELATED.get(stem).map(Vec::as_slice).unwrap_or_default()
}

//! The interface by its keys and its view.

use super::*;
use crate::menu::MenuAnswer;

fn interface() -> Interface {
    let command = |name: &str| Suggestion { name: name.to_owned(), description: "does".to_owned() };
    let mut interface = Interface::new(
        Vec::new(),
        vec![command("/compact"), command("/context"), command("/cost")],
        InterfaceTexts {
            queued: "queued:".to_owned(),
            leave: "Press Ctrl-C again.".to_owned(),
            ..InterfaceTexts::default()
        },
    );
    let parts = vec![("status".to_owned(), Style::DIM)];
    interface.set_status(StatusParts { parts, mode_at: None });
    interface
}

fn press(interface: &mut Interface, code: KeyCode) -> Option<UserAction> {
    interface.key(KeyEvent::new(code, KeyModifiers::NONE))
}

fn control(interface: &mut Interface, letter: char) -> Option<UserAction> {
    interface.key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::CONTROL))
}

fn write(interface: &mut Interface, text: &str) {
    for letter in text.chars() {
        assert_eq!(press(interface, KeyCode::Char(letter)), None);
    }
}

#[test]
fn a_message_is_sent() {
    let mut interface = interface();
    write(&mut interface, "hello");
    assert_eq!(interface.view(40).text(), ["> hello", "status"]);
    let sent = press(&mut interface, KeyCode::Enter);
    assert_eq!(sent, Some(UserAction::Submit("hello".to_owned())));
    assert_eq!(interface.view(40).text(), ["> ", "status"]);
}

#[test]
fn what_is_typed_during_a_turn_is_queued_edited_and_steered() {
    let mut interface = interface();
    interface.set_phase(TurnPhase::Running);
    interface.set_progress("waiting for the model");
    write(&mut interface, "one");
    assert_eq!(press(&mut interface, KeyCode::Enter), None);
    let shown = interface.view(80).text();
    assert_eq!(&shown[..4], ["", "waiting for the model", "queued: one", "> "]);
    press(&mut interface, KeyCode::Up);
    write(&mut interface, "!");
    press(&mut interface, KeyCode::Enter);
    let steered = press(&mut interface, KeyCode::Enter);
    assert_eq!(steered, Some(UserAction::Steer(vec!["one!".to_owned()])));
    write(&mut interface, "two");
    press(&mut interface, KeyCode::Enter);
    assert_eq!(press(&mut interface, KeyCode::Esc), Some(UserAction::Interrupt));
    interface.set_phase(TurnPhase::Idle);
    assert_eq!(interface.next_queued().as_deref(), Some("two"));
    assert_eq!(interface.next_queued(), None);
}

#[test]
fn control_c_clears_interrupts_and_leaves() {
    let mut interface = interface();
    write(&mut interface, "text");
    assert_eq!(control(&mut interface, 'c'), None);
    assert_eq!(interface.view(40).text(), ["> ", "status"]);
    press(&mut interface, KeyCode::Up);
    assert_eq!(interface.view(40).text()[0], "> text");
    control(&mut interface, 'c');
    assert_eq!(control(&mut interface, 'c'), None);
    assert!(interface.view(60).text()[1].contains("again"));
    write(&mut interface, "x");
    assert_eq!(interface.view(60).text()[1], "status");
    control(&mut interface, 'c');
    assert_eq!(control(&mut interface, 'c'), None);
    assert_eq!(control(&mut interface, 'c'), Some(UserAction::Leave));
    interface.set_phase(TurnPhase::Running);
    assert_eq!(control(&mut interface, 'c'), Some(UserAction::Interrupt));
    assert_eq!((control(&mut interface, 'd'), interface.leaves()), (None, true));
}

#[test]
fn escape_twice_rewinds() {
    let mut interface = interface();
    assert_eq!(press(&mut interface, KeyCode::Esc), None);
    assert_eq!(press(&mut interface, KeyCode::Esc), Some(UserAction::Rewind));
    write(&mut interface, "text");
    assert_eq!(press(&mut interface, KeyCode::Esc), None);
    assert_eq!(press(&mut interface, KeyCode::Esc), None);
}

#[test]
fn commands_are_suggested_and_completed() {
    let mut interface = interface();
    write(&mut interface, "/co");
    assert_eq!(interface.view(40).rows.len(), 5);
    press(&mut interface, KeyCode::Down);
    press(&mut interface, KeyCode::Tab);
    assert_eq!(interface.view(40).text()[0], "> /context ");
    control(&mut interface, 'c');
    write(&mut interface, "/cos");
    let sent = press(&mut interface, KeyCode::Enter);
    assert_eq!(sent, Some(UserAction::Submit("/cost".to_owned())));
    write(&mut interface, "/x");
    assert_eq!(interface.view(40).rows.len(), 2);
    let sent = press(&mut interface, KeyCode::Enter);
    assert_eq!(sent, Some(UserAction::Submit("/x".to_owned())));
}

#[test]
fn earlier_prompts_are_searched() {
    let earlier = ["fix the parser", "run the tests", "fix the lexer\nand more", "run the tests"];
    let mut interface =
        Interface::new(earlier.map(str::to_owned).to_vec(), Vec::new(), InterfaceTexts::default());
    control(&mut interface, 'r');
    assert_eq!(interface.view(40).rows.len(), 5, "each once");
    write(&mut interface, "FIX");
    let shown = interface.view(40).text();
    assert_eq!(&shown[..3], ["> FIX", "❯ fix the lexer", "  fix the parser"]);
    control(&mut interface, 'r');
    assert_eq!(press(&mut interface, KeyCode::Enter), None);
    assert_eq!(interface.view(40).text()[0], "> fix the parser");
    let sent = press(&mut interface, KeyCode::Enter);
    assert_eq!(sent, Some(UserAction::Submit("fix the parser".to_owned())));
    // Nothing fits: that is shown, and Esc brings back what was written before.
    write(&mut interface, "run");
    control(&mut interface, 'r');
    write(&mut interface, "xyz");
    assert_eq!(&interface.view(40).text()[..1], ["> runxyz"]);
    press(&mut interface, KeyCode::Down);
    press(&mut interface, KeyCode::Esc);
    assert_eq!(interface.view(40).text()[0], "> run");
}

#[test]
fn attachments_replace_the_word_after_the_mark() {
    let mut interface = interface();
    write(&mut interface, "see @src/ma");
    assert_eq!(interface.wanted_attachment(), Some("src/ma"));
    let entry = |name: &str| Suggestion { name: name.to_owned(), description: String::new() };
    interface.suggest_attachments("other", vec![entry("x")]);
    interface.suggest_attachments("src/ma", vec![entry("src/main.rs"), entry("src/map.rs")]);
    press(&mut interface, KeyCode::Down);
    assert_eq!(press(&mut interface, KeyCode::Enter), None);
    assert_eq!(interface.view(40).text()[0], "> see @src/map.rs ");
    write(&mut interface, "a@b");
    assert_eq!(interface.wanted_attachment(), None);
}

#[test]
fn a_question_is_not_answered_by_what_was_meant_for_a_message() {
    let choice = || vec![Choice { letter: 'y', label: "Yes".to_owned(), text: None }];
    let mut interface = interface();
    interface.set_phase(TurnPhase::Running);
    write(&mut interface, "wh");
    interface.ask(choice());
    write(&mut interface, "y");
    assert!(interface.view(60).text().contains(&"> why".to_owned()));
    press(&mut interface, KeyCode::Tab);
    let answer = press(&mut interface, KeyCode::Char('y'));
    let chosen = MenuAnswer::Chosen { index: 0, text: None };
    assert_eq!(answer, Some(UserAction::Answer(chosen.clone())));
    assert!(interface.view(60).text().contains(&"> why".to_owned()));
    control(&mut interface, 'c');
    interface.ask(choice());
    assert_eq!(press(&mut interface, KeyCode::Enter), None);
    assert!(interface.menu_waits());
    interface.focus_menu();
    // A letter that is no answer begins a message, and Enter does not answer then.
    write(&mut interface, "fg");
    assert_eq!(press(&mut interface, KeyCode::Enter), None);
    assert_eq!(interface.next_queued().as_deref(), Some("fg"));
    assert_eq!(control(&mut interface, 'z'), Some(UserAction::Suspend));
    interface.focus_menu();
    let answer = press(&mut interface, KeyCode::Char('y'));
    assert_eq!(answer, Some(UserAction::Answer(chosen)));
}

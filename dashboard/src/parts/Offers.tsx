/** A list of completions above a field. The field keeps the focus. */
import './offers.css';

interface Props {
  id: string;
  label: string;
  offers: readonly { value: string; title: string; hint: string }[];
  chosen: number;
  onChoose(offer: { value: string; title: string; hint: string }): void;
}

export function Offers({ id, label, offers, chosen, onChoose }: Props) {
  return (
    <div id={id} className="offers" role="listbox" aria-label={label} tabIndex={-1}>
      {offers.map((offer, index) => (
        <div
          key={offer.value}
          id={`${id}-${index}`}
          className="offers__row"
          role="option"
          tabIndex={-1}
          aria-selected={index === chosen}
          onMouseDown={(event) => {
            event.preventDefault();
            onChoose(offer);
          }}
        >
          <span>{offer.title}</span>
          <span className="muted small cut">{offer.hint}</span>
        </div>
      ))}
    </div>
  );
}

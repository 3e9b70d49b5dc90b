/** All keys, on one sheet. */
import { Modal } from '@mantine/core';
import { words } from '@/words';
import './palette.css';

export default function KeySheet({ onClose }: { onClose: () => void }) {
  return (
    <Modal
      opened
      onClose={onClose}
      title={words.keys.title}
      closeButtonProps={{ 'aria-label': words.close }}
      transitionProps={{ duration: 0 }}
    >
      <table className="grid key-sheet">
        <tbody>
          {words.keys.rows.map(([keys, what]) => (
            <tr key={keys}>
              <th scope="row">
                <kbd>{keys}</kbd>
              </th>
              <td>{what}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Modal>
  );
}
